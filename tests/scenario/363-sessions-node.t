#!/bin/bash
# Sessions of node as their users see them: cells that build on one another, their errors, limits and record.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python javascript
[[ $(id -u) == 0 ]] || skip_all "sessions need cgroups"
[[ -x /usr/bin/node ]] || skip_all "there is no node at /usr/bin"
cat >"$ced_folder/ced.conf" <<CONF
cgroups = "auto"
workers_min = 2
workers_max = 6
sessions_max = 5
sessions_per_uid = 5
CONF
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 "$here/363-sessions-node.py" >"$work/said" 2>&1
ok $? "cells of node: $(grep -c '^ok' "$work/said") checks"
report "$work/said"

session=$(cectl session open --language javascript --limit memory=256M --task words)
like "$session" '^[0-9A-Z]{26}$' "session open prints the id"
exits 0 "a cell" cectl run --session "$session" -c 'let x = 41'
echo 'let x = await 42; console.log(x)' >"$work/cell.js"
is "$(cectl run --session "$session" "$work/cell.js")" 42 "a file is the next one"
like "$(cectl session list)" "$session.*javascript.*waits +2.*words" "session list"
exits 1 "there is no state to go back to" cectl session rollback "$session" 1
like "$err" 'not kept.*threads' "and cectl says why"
like "$(cectl runs --session "$session" --columns run,cell,outcome)" ' 2 .*ok' "runs --session"
like "$(cectl session close "$session")" "closed $session after 2 cells" "session close"
is "$(printf 'let x = 1\nfunction f() {\n  return x\n}\n\n%%%%\nconsole.log(f())\n' | cectl repl --language javascript)" 1 "repl reads cells of node from stdin"
status=$(printf 'console.log(1)\n%%%%\nnull.x\n%%%%\nconsole.log(2)\n' | cectl repl -l js >"$work/out" 2>"$work/err"; echo $?)
is "$status $(<"$work/out")" "1 1" "and ends with the first that fails"
like "$(<"$work/err")" 'cell-2.js:1' "which it shows"
/usr/bin/python3 "$here/363-sessions-typed.py" >"$work/said" 2>&1
ok $? "repl in a terminal"
report "$work/said"
like "$(cectl session list 2>&1)" 'no session is open' "none is left"
done_testing
