#!/bin/bash
# Every shell script of ours, looked through by shellcheck: those that say so in their first line
# and the pieces that others read in.
set -euo pipefail

if ! command -v shellcheck >/dev/null; then
	echo "1..0 # SKIP shellcheck is not installed"
	exit 77
fi

mapfile -t scripts < <(
	find . \( -path ./build -o -path ./.git -o -path ./tests/programs \) -prune -o -type f \
		\( -name '*.sh' -o -name '*.t' -o -name dev -o -path ./.ci/run \) -print | sort
)
shellcheck --shell=bash --external-sources --source-path=SCRIPTDIR "${scripts[@]}"
echo "shell: ok, ${#scripts[@]} scripts"
