#!/bin/bash
# A page goes bad under records that have settled: contents of all others leave, and those that stay are named.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
/usr/bin/python3 "$here/614-left-behind.py" fill >"$work/ids" 2>"$work/why"
is "$(wc -l <"$work/ids")" 60 "programs run: $(cat "$work/why")"
spoilt=$(sed -n 31p "$work/ids")
exits 0 "one leaves, and the others settle for that" cectl gc --keep-runs 59
/usr/bin/python3 "$here/614-left-behind.py" spoil "$ced_state" # a daemon that starts looks at every page
ok $? "a page goes bad"

exits 1 "gc says that something stayed" cectl gc --keep-runs 10
like "$out" 'contents of [0-9]+ runs have left' "what can leave has left"
like "$out" 'contents of [0-9]+ runs cannot be removed: .*damaged' "what cannot is counted, and why"
like "$out" "$spoilt" "and named"
stay=$(sed -n 's/.*contents of \([0-9]*\) runs cannot.*/\1/p' <<<"$out")
gone=$(sed -n 's/.*contents of \([0-9]*\) runs have left.*/\1/p' <<<"$out")
is $((stay + gone)) 49 "together they are all that were to leave"
ok $((stay < 1 || stay > 20)) "few stay: $stay"
like "$(grep 'gc.left_behind' "$ced_log")" "run=\"?$spoilt" "the log names them too"
is "$(json "$(cectl status --json)" 'it["gc"]["left_behind"]["runs"]')" "$stay" "and the status counts them"
is "$(json "$(cectl acts --json)" 'it["acts"][0]["result"]["left_behind"]')" "$stay" "as does the act"
is "$(json "$(cectl status --json)" 'it["trouble"]')" None "the store is not said to ail"
unlike "$(cat "$ced_log")" 'store.failed' "nor was it"
exits 0 "programs run" cectl run -c 'print("onwards")'
exits 1 "the next gc goes on with the rest" cectl gc --keep-runs 1
like "$out" 'contents of 10 runs have left' "and takes it"
exits 1 "a third one finds the same" cectl gc --keep-runs 1
like "$out" "contents of $stay runs cannot be removed" "and says so"
daemon_stop
done_testing
