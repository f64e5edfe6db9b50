#!/bin/bash
# Each example in clients/node/README.md prints what the page says.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/node_client.sh"
. "$here/pages.sh"
node_client_build || bail "clients/node does not build"
daemon_start
type_page "$client/README.md"
is "$page_typed" 7 "the page has its seven programs"
done_testing
