#!/bin/bash
# Every shell script of ours, looked through by shellcheck: those that say so in their first line
# and the pieces that others read in.
#
# A script that passed is noted under $XDG_CACHE_HOME/ced-shell by a digest of its content, of all
# pieces, and of shellcheck's version, and is not looked at again.
set -euo pipefail

if ! command -v shellcheck >/dev/null; then
	echo "1..0 # SKIP shellcheck is not installed"
	exit 77
fi

# look STAMP SCRIPT: notes the script if it passes.  With the pieces that a scenario reads in, shellcheck
# takes seven times as long; a variable that neither sets ends it when it runs, by `set -u`.
if [[ ${1:-} == look ]]; then
	how=(--external-sources --source-path=SCRIPTDIR)
	[[ $3 != *.t ]] || how=(--exclude 'SC1091,SC2034,SC2154')
	shellcheck --shell=bash "${how[@]}" "$3"
	touch "$2" 2>/dev/null || true
	exit 0
fi

mapfile -t scripts < <(
	find . \( -path ./build -o -path ./.git -o -path ./tests/programs \) -prune -o -type f \
		\( -name '*.sh' -o -name '*.t' -o -name dev -o -path ./.ci/run -o -path './packaging/*/p*' \) -print | sort
)
cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/ced-shell
mkdir -p "$cache" 2>/dev/null || true
common=$({ shellcheck --version; printf '%s\n' "${scripts[@]}" | grep '\.sh$' | xargs cat; } | sha256sum)

unseen=()
for script in "${scripts[@]}"; do
	digest=$({ echo "$common $script"; cat "$script"; } | sha256sum)
	[[ -e $cache/${digest%% *} ]] || unseen+=("$cache/${digest%% *}" "$script")
done
[[ ${#unseen[@]} == 0 ]] ||
	printf '%s\0' "${unseen[@]}" | xargs -0 -n 2 -P "$(nproc)" bash "${BASH_SOURCE[0]}" look
echo "shell: ok, ${#scripts[@]} scripts"
