#!/bin/bash
# Programs that run into each limit, on a stock Debian, where cgroups are v2.
. "$(dirname "$0")/stock.sh"
scenarios 053-limits 054-limits-ordinary 056-allowances
stock_done
