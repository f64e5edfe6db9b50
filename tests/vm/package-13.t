#!/bin/bash
# The same as package.t on a stock Debian 13, with the packages that were built here.
CED_VM_SUITE=trixie
. "$(dirname "$0")/package.t"
