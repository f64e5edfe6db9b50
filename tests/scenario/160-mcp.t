#!/bin/bash
# cectl mcp, driven line by line: requests, broken lines, several at once, cancel, and its end.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
/usr/bin/python3 "$here/160-mcp.py"
