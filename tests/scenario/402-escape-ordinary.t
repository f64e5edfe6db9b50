#!/bin/bash
# What 401-escape tries, where the house has no rights at all.
. "$(dirname "$0")/ordinary.sh"
as_ordinary_user 401-escape
