#!/bin/bash
# Programs that try to get out of the jail, on a stock Debian.
. "$(dirname "$0")/stock.sh"
scenarios 050-escape 051-escape-ordinary 052-escape-bash 055-lessons 057-lessons-ordinary
stock_done
