#!/bin/bash
# What 050-escape tries, where the house has no rights at all.
. "$(dirname "$0")/ordinary.sh"
as_ordinary_user 050-escape
