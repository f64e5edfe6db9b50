#!/bin/bash
# As escape.t, on a stock Debian 13.
export CED_VM_SUITE=trixie
. "$(dirname "$0")/escape.t"
