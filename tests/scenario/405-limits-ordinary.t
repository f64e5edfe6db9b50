#!/bin/bash
# What 404-limits tries, where the house has no rights at all and no cgroups.
. "$(dirname "$0")/ordinary.sh"
as_ordinary_user 404-limits
