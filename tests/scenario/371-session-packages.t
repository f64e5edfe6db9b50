#!/bin/bash
# Package sets of a session: settled when it is opened, there in every cell, and named by each result.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/packages.sh"
[[ $(id -u) == 0 ]] || skip_all "it takes several users"

# made NAME WORD: a set with one module.
made() {
	mkdir -p "$sets/$1/greet"
	printf 'word = "%s"\n' "$2" >"$sets/$1/greet/__init__.py"
}
made usual usual
set_add usual python 'default = true'
made good good
set_add good python
made changing changing
set_add changing python
made swapped before
set_add swapped python
made closed closed
set_add closed python 'users = {4001}'
mkdir -p "$sets/mods/node_modules/left"
echo 'exports.word = "left"' >"$sets/mods/node_modules/left/index.js"
set_add mods javascript
cat >>"$conf" <<CONF
packages_check_ms = 1s
socket_mode = "0666"
users = {4001, 4242}
sessions_per_uid = 8
CONF
chmod 644 "$conf"
ced_arguments=(--config "$conf")
daemon_start
chmod 755 "$ced_folder/run" # another user may connect
is "$(set_state good)" ready "the sets are ready"
/usr/bin/python3 "$here/371-session-packages.py" "$sets" "$conf" >"$work/said" 2>&1
ok $? "$(grep -c '^ok' "$work/said") checks"
report "$work/said"
session=$(cectl session open --packages good)
is "$(cectl run --session "$session" -c 'import greet; print(greet.word)')" good "cectl session open --packages"
exits 0 "which ends" cectl session close "$session"
is "$(printf 'import greet\n%%%%\nprint(greet.word)\n' | cectl repl --packages good)" good "cectl repl --packages"
exits 0 "the chain holds" cectl audit verify
done_testing
