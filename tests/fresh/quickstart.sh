#!/bin/bash
# The first steps of the guide in a clone on a bare Debian 12, as an ordinary user with sudo: the lines
# that docs/guide/python.md and docs/guide/typescript.md print, in their order.  Writes TAP.
runtime=${XDG_RUNTIME_DIR:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../scenario" && pwd)
# shellcheck source=tests/scenario/lib.sh
. "$here/lib.sh"
# shellcheck source=tests/scenario/blocks.sh
. "$here/blocks.sh"
unset CED_SOCKET
export XDG_RUNTIME_DIR=$runtime
guide=$here/../../docs/guide
cd "$here/../.." || bail "no clone"

# typed NAME LINES: in this shell, as in a terminal.
typed() {
	eval "$2" >"$work/said" 2>&1
	local status=$?
	ok "$status" "$1"
	[[ $status == 0 ]] || diag "$(tail -n 20 "$work/said")"
	return "$status"
}

# shellcheck disable=SC2317 # called by the trap
leave() {
	local status=$?
	kill "$daemon" 2>/dev/null
	wait "$daemon"
	(exit "$status")
	ced_leave
}

# --- the first terminal ---------------------------------------------------------------------------
mapfile -t lines < <(block_of "$guide/python.md" fresh.quickstart)
is "${#lines[@]}" 2 "python.md begins with two lines"
typed "the first: ${lines[0]%%#*}" "${lines[0]}" || bail "there is no build"
like "$(<"$work/said")" 'memory_limit' "it shows a program that is killed"
bash -c "exec ${lines[1]}" >"$work/daemon" 2>&1 &
daemon=$!
trap leave EXIT
for _ in {1..1200}; do
	grep -q ' ready version=' "$work/daemon" && break
	kill -0 "$daemon" || break
	sleep 0.1
done
like "$(<"$work/daemon")" ' ready version=' "the second: ${lines[1]%%#*}"

# --- the second terminal --------------------------------------------------------------------------
install=$(block_of "$guide/python.md" 931-install)
eval "$install" >"$work/said" 2>&1
status=$?
if [[ $status != 0 ]] && grep -q 'setuptools' "$work/said"; then
	diag "this host reaches no package index: the page's row about that"
	# shellcheck disable=SC2016 # backticks of the page
	row=$(grep '^| pip finds no `setuptools`' "$guide/python.md" | cut -d '|' -f 3 | grep -o '`[^`]*`' | tr -d '`' | head -n 2)
	row=${row/apt-get install/apt-get install --yes}
	typed "the row's lines, and pip again" "set -e; $row; $(tail -n 1 <<<"$install"); set +e"
else
	ok "$status" "the lines of python.md install the client"
	diag "$(tail -n 5 "$work/said")"
fi
first_of "$guide/python.md" python >"$work/first.py"
exits 0 "its first program runs" python "$work/first.py"
is "$out" "$(first_of "$guide/python.md" output)" "and prints what the page says"
exits 0 "it uses what was installed" python -c 'import ced; print(ced.__file__)'
like "$out" '^/.*/ced-env/lib/.*/ced/__init__.py' "and not the clone"
deactivate

typed "the lines of typescript.md install the client" "$(block_of "$guide/typescript.md" 931-install)"
first_of "$guide/typescript.md" js >"$HOME/agent/first.mjs"
exits 0 "its first program runs" node "$HOME/agent/first.mjs"
is "$out" "$(first_of "$guide/typescript.md" output)" "and prints what the page says"
done_testing
