#!/bin/bash
# What 407-lessons tries, where the house has no rights at all.
. "$(dirname "$0")/ordinary.sh"
as_ordinary_user 407-lessons
