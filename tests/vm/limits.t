#!/bin/bash
# Programs that run into each limit, on a stock Debian, where cgroups are v2.
. "$(dirname "$0")/stock.sh"
scenarios 404-limits 405-limits-ordinary 406-allowances
stock_done
