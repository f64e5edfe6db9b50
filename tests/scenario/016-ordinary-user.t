#!/bin/bash
# What 010-cli-run tries, by a user without any rights.
. "$(dirname "$0")/ordinary.sh"
as_ordinary_user 010-cli-run
