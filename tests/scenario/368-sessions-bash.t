#!/bin/bash
# Sessions of bash as their users see them: cells that build on one another, kept states, errors, limits and record.
# shellcheck disable=SC2016 # cells expand what is in single quotes
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only bash
[[ $(id -u) == 0 ]] || skip_all "sessions need cgroups"
cat >"$ced_folder/ced.conf" <<CONF
cgroups = "auto"
workers_min = 2
workers_max = 6
sessions_max = 5
sessions_per_uid = 5
runtime sh { kind = "command"  interpreter = "/bin/dash"  tools = {"coreutils"} }
CONF
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 "$here/368-sessions-bash.py" >"$work/said" 2>&1
ok $? "cells of bash: $(grep -c '^ok' "$work/said") checks"
report "$work/said"

session=$(cectl session open --language bash --limit memory=256M --task words)
like "$session" '^[0-9A-Z]{26}$' "session open prints the id"
exits 0 "a cell" cectl run --session "$session" -c 'x=41; f() { echo "f $((x + $1))"; }'
echo 'f 1; echo "$#" "$2"' >"$work/cell.sh"
is "$(cectl run --session "$session" "$work/cell.sh" -- a 'b c')" $'f 42\n2 b c' "a file is the next one, with its arguments"
exits 3 "the exit code is that of the cell" cectl run --session "$session" -c 'x=0; exit 3'
is "$(cectl run --session "$session" -c 'f 0')" "f 0" "and the session goes on"
like "$(cectl session list)" "$session.*bash.*waits +4.*words" "session list"
exits 0 "back to a kept state" cectl session rollback "$session" 3
like "$(cectl runs --session "$session" --columns run,cell,outcome)" ' 3 .*exit' "runs --session"
like "$(cectl session close "$session")" "closed $session after 4 cells" "session close"
is "$(printf 'x=1\nf() {\n  echo $x\n}\n\n%%%%\nf\n' | cectl repl --language bash)" 1 "repl reads cells of bash from stdin"
status=$(printf 'echo 1\n%%%%\nfalse\nnosuch\n%%%%\necho 2\n' | cectl repl -l sh >"$work/out" 2>"$work/err"; echo $?)
like "$status" "^[1-9]" "an unknown runtime has no session" "$(<"$work/err")"
status=$(printf 'echo 1\n%%%%\nfalse\nnosuch\n%%%%\necho 2\n' | cectl repl -l bash >"$work/out" 2>"$work/err"; echo $?)
is "$status $(<"$work/out")" "127 1" "repl ends with the first cell that fails"
like "$(<"$work/err")" 'cell-2.sh: line 2: nosuch' "which it shows"
/usr/bin/python3 "$here/368-sessions-typed.py" >"$work/said" 2>&1
ok $? "repl in a terminal"
sed "s/^/# /" "$work/said"
like "$(cectl session list 2>&1)" 'no session is open' "none is left"
verdict=$(cectl audit verify 2>&1)
ok $? "the record holds" "$verdict"
done_testing
