#!/bin/bash
# codespell over everything that people read.  Words that it does not know and we do are in
# spelling.words, one per line.
set -euo pipefail

if ! command -v codespell >/dev/null; then
	echo "1..0 # SKIP codespell is not installed"
	exit 77
fi

here=$(dirname "${BASH_SOURCE[0]}")
git ls-files -z -- '*.[ch]' '*.md' '*.cmake' '*.txt' '*.sh' '*.t' '*.py' '*.js' '*.scd' dev |
	xargs -0 codespell --ignore-words "$here/spelling.words"
echo "spelling: ok"
