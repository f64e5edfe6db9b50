#!/bin/bash
# cectl mcp, driven by the official client of MCP, which the build fetches (tests/clients/mcp).
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python bash javascript
daemon_start
node "$here/162-mcp-sdk.mjs" "$(dirname "$(dirname "$here")")/build/mcp-client"
