#!/bin/bash
# The pages of docs/guide that need no settings but patience: their examples run, and print what they say.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/guide.sh"
guide_pages python typescript shell mcp from-subprocess from-e2b from-code-interpreter from-docker-run sessions tools secrets limits
done_testing
