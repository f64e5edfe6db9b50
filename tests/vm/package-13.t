#!/bin/bash
# The same as package.t on a stock Debian 13: kernel 6.12, systemd 257, CPython 3.13.  The packages are
# those that were built here.
CED_VM_SUITE=trixie
. "$(dirname "$0")/package.t"
