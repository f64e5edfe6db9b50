#!/bin/bash
# The same as quickstart.t on a bare Debian 13.
CED_SUITE=trixie
. "$(dirname "$0")/quickstart.t"
