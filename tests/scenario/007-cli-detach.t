#!/bin/bash
# Runs that are left alone, watched, waited for and canceled.
. "$(dirname "$0")/lib.sh"
only python
daemon_start

exits 0 "--detach answers at once" cectl run --detach --limit wall=20s -c 'import time; time.sleep(1); print("late")'
like "$out" '^[0-9A-Z]{26}$' "with the run's id"
id=$out
exits 0 "wait waits" cectl wait "$id"
is "$out" late "and passes the output through"
exits 0 "once more" cectl wait "$id"
is "$out" late "it is the same"

id=$(cectl run --detach --limit wall=20s -c 'import time; time.sleep(18)')
like "$(cectl trace "$id")" 'it has not ended: its timeline comes with its end' "trace of a run says that it runs"
like "$(cectl explain "$id")" '^run [^ ]+  running' "explain does, too"
exits 124 "wait gives up after --timeout" cectl wait "$id" --timeout 100ms
like "$err" 'is still running' "and says so"
exits 0 "cancel" cectl cancel "$id"
exits 130 "a canceled run exits with 130" cectl wait "$id"
like "$err" 'cectl: canceled: ' "and says so"
exits 1 "what has ended cannot be canceled" cectl cancel "$id"

id=$(cectl run --detach -c 'import sys; sys.stdout.write("x" * 300000)')
is "$(cectl wait "$id" | wc -c)" 300000 "wait has all of a long output"
sleep 0.2
is "$(cectl wait "$id" | wc -c)" 300000 "also later, from the store"

program='
import time
for i in range(3):
    print(i, flush=True)
    time.sleep(0.4)
'
start=$(date +%s%N)
cectl run --stream -c "$program" | {
	read -r first
	echo "$first $((($(date +%s%N) - start) / 1000000))" >first
	cat >rest
}
is "$(cut -d' ' -f1 <first)" 0 "--stream passes the first line on"
ok "$([[ $(cut -d' ' -f2 <first) -lt 900 ]]; echo $?)" "while the program runs"
is "$(tr '\n' ' ' <rest)" "1 2 " "and every line once"
exits 123 "--stream of a flood ends at the limit" cectl run --stream --limit stdout=100K -c 'while True: print("y" * 100)'
is "$(wc -c <"$ced_folder/out")" 102400 "with exactly as much as was kept"

exits 0 "--stream of what is truncated" cectl run --stream --on-output-limit truncate --limit stdout=40 \
	-c 'for i in range(100): print(i)'
like "$out" '^0.*99$' "has both ends"
like "$err" '250 bytes of stdout left out here' "and tells what it lacks"

cectl run --limit wall=20s -c 'import time; time.sleep(18)' >/dev/null 2>&1 &
client=$!
sleep 0.5
kill "$client"
wait "$client" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do
	[[ $(cectl show last --json) == *'"canceled"'* ]] && break
	sleep 0.2
done
is "$(json "$(cectl show last --json)" 'it["outcome"]')" canceled "a client that leaves cancels its run"
done_testing
