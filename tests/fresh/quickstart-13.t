#!/bin/bash
# The same as quickstart.t on a bare Debian 13: a newer compiler, libuv, CPython and node.
here=$(cd "$(dirname "$0")" && pwd)
[[ $(id -u) == 0 ]] || { echo "1..0 # SKIP only root makes the tree" && exit 0; }
command -v mmdebstrap >/dev/null || { echo "1..0 # SKIP no mmdebstrap here: ./dev setup vm" && exit 0; }
exec "$here/run" --suite trixie --user tests/fresh/quickstart.sh
