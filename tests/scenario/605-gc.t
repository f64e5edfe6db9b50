#!/bin/bash
# Contents leave the store for age, number and size; the record stays, room comes back, runs do not wait.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start

/usr/bin/python3 - "$here" >"$work/filled" 2>&1 <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
from wire import Client
client = Client()
for i in range(300):
    client.run("import random; print(%d); print(''.join(chr(random.randrange(33, 127)) for _ in range(20000)))" % i,
               args=["secret-%d" % i], stdin="input-%d" % i)
PY
first=$(cectl runs --json -n 1000 | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][-1]["run_id"])')
exits 1 "without settings somebody must say what is kept" cectl gc
like "$err" 'bad_request.*keep everything' "and is told so"
exits 0 "a dry run" cectl gc --keep-runs 50 --dry-run
like "$out" 'contents of 250 runs would leave, [0-9.]+ MiB' "says how much would leave"
is "$(cectl output "$first" | head -n 1)" 0 "and nothing has"
unlike "$(cectl acts 2>&1)" 'gc|prune' "nor is anything recorded"

# Others run meanwhile.
/usr/bin/python3 - "$here" >"$work/load" 2>&1 <<'PY' &
import sys, time
sys.path.insert(0, sys.argv[1])
from load import Load
load = Load(clients=1)
time.sleep(2)
load.finish()
from wire import Client
times = sorted(run["total_us"] for run in Client().call("runs.list", limit=1000)["runs"] if run["total_us"])
print(len(load.answered), sum(load.refused.values()), len(load.odd), len(load.missing(Client())),
      "slowest %d ms" % (times[-1] // 1000))
PY
loaded=$!
sleep 0.5
exits 0 "gc" cectl gc --older-than now --reason 'policy 7'
like "$out" 'contents of [0-9]+ runs have left' "says what it did"
wait "$loaded"
like "$(cat "$work/load")" '^[0-9]+ 0 0 [0-9]+' "no run was refused meanwhile"
diag "answered, refused, odd, gone with gc: $(cat "$work/load")"

record=$(cectl show --json "$first")
is "$(json "$record" '[it["outcome"], it["ran"], it["caller"]["uid"] >= 0, it["code_hash"][:7], it["stdout_bytes"] > 20000, it["metrics"]["cpu_user_us"] + it["metrics"]["cpu_sys_us"] > 0]')" \
	'["ok", "yes", true, "sha256:", true, true]' "what the run was stays"
is "$(json "$record" '[it["request"].get("code"), it["request"].get("stdin"), it["request"].get("args"), it["stdout"], it.get("trace")]')" \
	'[null, null, null, "", null]' "its contents have left"
like "$(json "$record" 'it["pruned"]')" '"act": [0-9]+' "and the record says by which act"
acts=$(cectl acts --json)
is "$(json "$acts" 'it["acts"][0]["method"]')" admin.gc "the last act says what was done"
is "$(json "$acts" 'it["acts"][0]["params"]["reason"]')" 'policy 7' "and why"
is "$(json "$acts" 'sum(act["result"]["runs"] for act in it["acts"] if act["method"] == "prune") == it["acts"][0]["result"]["runs"]')" true "the acts of its pieces have the same runs"
is "$(grep -c 'gc.done' "$ced_log")" 1 "so does the log"
exits 1 "what has left cannot be replayed" cectl replay "$first"
like "$err" 'its contents were deleted' "which is said"
if cectl audit verify --help >/dev/null 2>&1; then
	exits 0 "the chain verifies" cectl audit verify
fi

# Nothing of it is in the files any more.
daemon_stop
# The file also has the rows of all that ran meanwhile, so what counts is that it holds no room for what has left.
free=$(/usr/bin/python3 -c 'import sqlite3, sys
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
print(db.execute("PRAGMA freelist_count").fetchone()[0] * db.execute("PRAGMA page_size").fetchone()[0] // 1024)' "$ced_state/ced.db")
((free < 1024))
ok $? "room has come back: of 6000 KiB that left the file keeps $free KiB free"
is "$(grep -c 'secret-7\b\|input-7\b' "$ced_state/ced.db")" 0 "and what has left is not in the file"

# The daemon ends, or dies, in the middle of it: what has left has left, and nothing else has changed.
daemon_start
/usr/bin/python3 - "$here" >"$work/filled" 2>&1 <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
from wire import Client
client = Client()
for i in range(300):
    client.run("import random; print(''.join(chr(random.randrange(33, 127)) for _ in range(5000)))")
PY
for end in daemon_stop daemon_kill daemon_stop; do
	cectl gc --keep-runs 1 >"$work/gc" 2>&1 &
	gc=$!
	sleep 0.15
	$end
	wait "$gc"
	[[ $? != 0 || $(cat "$work/gc") == *'have left'* ]]
	ok $? "$end: gc says that it was broken off, or was done before: $(head -n 1 "$work/gc")"
	daemon_start
	is "$(cectl audit verify | tail -n 1)" "no change found" "and the chain verifies"
done
exits 0 "the next one does the rest" cectl gc --keep-runs 1
is "$(cectl audit verify | tail -n 1)" "no change found" "and it verifies still"
daemon_stop

# By the settings.
cat >"$ced_folder/ced.conf" <<'CONF'
cgroups = "auto"
keep_runs = 20
keep_days = 36500
keep_check_ms = 1s
CONF
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
for i in {1..40}; do
	cectl run -c "print('kept $i')" >/dev/null
done
sleep 4
like "$(cectl output last~5)" 'kept 35' "the newest keep theirs"
is "$(cectl output last~30 2>/dev/null)" "" "older ones do not"
like "$(cectl acts)" 'retention' "which is recorded as retention"
is "$(json "$(cectl status --json)" 'it["gc"]["runs"] >= 20')" true "and counted in the status"
exits 0 "by hand, as the settings say" cectl gc
exits 0 "by size" cectl gc --keep-size 1K
is "$(json "$(cectl runs --json -n 40)" 'len(it["runs"])')" 40 "runs stay in lists"
cectl run -c 'print("again")' >/dev/null
is "$(cectl output last)" again "and new ones have their contents"
exits 0 "a hundred years are a length of time" cectl gc --older-than 36500d
like "$out" 'nothing is to leave' "and nothing is as old as that"
exits 2 "a number is a number" cectl gc --keep-runs many
exits 2 "an age is past" cectl gc --older-than 2999-01-01

if [[ $(id -u) == 0 ]]; then
	chmod 777 "$(dirname "$CED_SOCKET")"
	chmod 666 "$CED_SOCKET"
	exits 1 "gc is for administrators" \
		setpriv --reuid 4001 --regid 4001 --clear-groups cectl gc --keep-runs 1
fi
done_testing
