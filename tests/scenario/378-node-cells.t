#!/bin/bash
# Cells of a session of node display values and call tools, each for itself, whatever an earlier one has left.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python javascript
[[ $(id -u) == 0 ]] || skip_all "sessions need cgroups"
[[ -x /usr/bin/node ]] || skip_all "there is no node at /usr/bin"
daemon_start
/usr/bin/python3 -B "$here/378-node-cells.py" >"$work/said" 2>&1
ok $? "$(grep -c '^ok' "$work/said") checks"
report "$work/said"

session=$(cectl session open --language javascript)
is "$(cectl run --session "$session" --display -c '6 * 7')" 42 "cectl run --session --display"
is "$(cectl run --session "$session" --tool 'word=echo "\"told\""' -c 'console.log(await tools.word())')" told "cectl run --session --tool"
exits 0 "which ends" cectl session close "$session"
exits 0 "the chain holds" cectl audit verify
done_testing
