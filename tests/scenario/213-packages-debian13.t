#!/bin/bash
# The same packages in a Debian 13, whose interpreters and AppArmor are newer.
CED_SUITE=trixie exec bash "$(dirname "$0")/212-packages-installed.t"
