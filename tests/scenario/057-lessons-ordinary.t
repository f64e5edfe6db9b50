#!/bin/bash
# What 055-lessons tries, where the house has no rights at all.
. "$(dirname "$0")/ordinary.sh"
as_ordinary_user 055-lessons
