#!/bin/bash
# What 340-network-allowed does, where the daemon has no rights at all.
. "$(dirname "$0")/ordinary.sh"
as_ordinary_user 340-network-allowed
