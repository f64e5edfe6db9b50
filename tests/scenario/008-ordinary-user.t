#!/bin/bash
# What 002-cli-run tries, by a user without any rights.
. "$(dirname "$0")/ordinary.sh"
as_ordinary_user 002-cli-run
