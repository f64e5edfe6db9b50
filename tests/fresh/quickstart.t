#!/bin/bash
# What the guide prints for a user with an agent works on a bare Debian 12: ./dev demo, ./dev run, and
# the clients of docs/guide/python.md and docs/guide/typescript.md.  It tries the last commit.
here=$(cd "$(dirname "$0")" && pwd)
[[ $(id -u) == 0 ]] || { echo "1..0 # SKIP only root makes the tree" && exit 0; }
command -v mmdebstrap >/dev/null || { echo "1..0 # SKIP no mmdebstrap here: ./dev setup vm" && exit 0; }
exec "$here/run" --suite "${CED_SUITE:-bookworm}" --user tests/fresh/quickstart.sh
