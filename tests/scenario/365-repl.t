#!/bin/bash
# cectl repl for people: typing, editing, its commands, Ctrl-C and Ctrl-D; and without a terminal.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "an ordinary user may lack cgroups that can be frozen"
cat >"$ced_folder/ced.conf" <<CONF
workers_min = 3
workers_max = 6
workers_reserve = 0
sessions_per_uid = 4
CONF
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
export XDG_STATE_HOME=$ced_folder/user

/usr/bin/python3 "$here/365-repl.py" >"$work/said" 2>&1
ok $? "in a terminal: $(grep -c '^ok' "$work/said") checks"
report "$work/said"
like "$(cectl session list 2>&1)" 'no session is open' "it leaves no session open"

# --- not a terminal --------------------------------------------------------------------------------

before=$(wc -l <"$XDG_STATE_HOME/ced/history")
exits 0 "cells from a pipe" bash -c "printf '%s\n' 'x = 20' '%%' 'def f(y):' '    return x + y' '%%' 'print(f(22))' '6 * 7' | cectl repl"
is "$out" 42 "build on one another, and only what they print comes out"
is "$err" "" "without prompts"
exits 1 "the first that fails is the last" bash -c "printf '%s\n' 'print(1)' '%%' '1 / 0' '%%' 'print(2)' | cectl repl"
is "$out" 1 "and what came before it has happened"
exits 1 "a line that begins with % is Python's, which has none" bash -c "printf '%%help\n' | cectl repl"
like "$err" 'SyntaxError' "as it says"
bash -c "printf '%s\n' 'print(\"x\" * 200000)' '%%' 'print(2)' | cectl repl | head -c 10" >/dev/null
like "$(cectl session list 2>&1)" 'no session is open' "a session whose output nobody reads is closed"
is "$(wc -l <"$XDG_STATE_HOME/ced/history")" "$before" "none of it is in the history"
done_testing
