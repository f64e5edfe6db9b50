#!/bin/bash
# cectl mcp, driven line by line: requests, broken lines, several at once, cancel, and its end.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
/usr/bin/python3 "$here/160-mcp.py" || exit 1
settings=$(cectl mcp --config cursor --policy strict --agent ed --label a=b 2>/dev/null)
[[ $(json "$settings" 'it["mcpServers"]["ced"]["args"][-6:]') == '["--policy", "strict", "--agent", "ed", "--label", "a=b"]' ]] ||
	bail "a client is not given the policy, the agent and the label: $settings"
