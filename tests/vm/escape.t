#!/bin/bash
# Programs that try to get out of the jail, on a stock Debian.
. "$(dirname "$0")/stock.sh"
scenarios 401-escape 402-escape-ordinary 403-escape-bash 407-lessons 408-lessons-ordinary
stock_done
