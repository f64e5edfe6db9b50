#!/bin/bash
# The same by a user without any rights, who has no cgroups.
. "$(dirname "$0")/ordinary.sh"
as_ordinary_user 412-cpu-told
