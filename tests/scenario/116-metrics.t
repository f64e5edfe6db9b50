#!/bin/bash
# Metrics and health: what Prometheus reads, what a monitor reads, and that faults come and go with
# the time since when they last.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cat >>"$ced_folder/ced.conf" <<CONF
checkpoint_file = "$ced_folder/second/checkpoints.log"
CONF
chmod 644 "$ced_folder/ced.conf"
mkdir "$ced_folder/second"
[[ $(id -u) != 0 ]] || chown "$(ced_account)" "$ced_folder/second"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start

# sample LINE-START: the number of that sample.
sample() {
	cectl metrics | LINE=$1 awk 'index($0, ENVIRON["LINE"]) == 1 { print $NF }'
}
# health EXPRESSION: of what the daemon says of itself.
health() {
	json "$(cectl status --check --json)" "$1"
}

exits 0 "a daemon without a fault" cectl status --check
is "$out" ok "is ok, in one word"
is "$(health 'it')" '{"status": "ok", "faults": []}' "and as a document"

before=$(sample 'ced_runs_total{language="python",policy="standard",outcome="ok"}')
cectl run --agent 'a "quoted" \ name' -c 'print("x" * 100)' >/dev/null
cectl run -c 'raise ValueError' >/dev/null 2>&1
cectl run --policy strict -c 'import os' >/dev/null 2>&1
cectl metrics >"$work/metrics"
is "$(sample 'ced_runs_total{language="python",policy="standard",outcome="ok"}')" "$((${before:-0} + 1))" "runs count by outcome"
is "$(sample 'ced_runs_total{language="python",policy="standard",outcome="exception"}')" 1 "each by its own"
is "$(sample 'ced_runs_total{language="python",policy="strict",outcome="policy_denied"}')" 1 "with the policy"
is "$(sample 'ced_agent_runs_total{agent="a \"quoted\" \\ name"}')" 1 "an agent's name is escaped"
is "$(sample 'ced_output_bytes_total{stream="stdout"}')" 101 "output counts in bytes"
is "$(sample 'ced_phase_seconds_count{phase="total"}')" 3 "times are counted"
like "$(sample 'ced_phase_seconds_count{phase="exec"}')" '^[12]$' "of a phase only for the runs that reached it"
is "$(sample 'ced_healthy ')" 1 "a healthy daemon says so"
like "$(sample 'ced_workers{runtime="python",state="warm"}')" '^[1-9]' "workers are counted by state"
unlike "$(<"$work/metrics")" ced_fault_since_seconds\{ "without a fault there is no sample of one"

# The form: each family is described once, before its samples; buckets only grow; numbers are numbers.
checked=$(/usr/bin/python3 - "$work/metrics" <<'PY'
import re, sys
seen, buckets, faults = {}, {}, []
for line in open(sys.argv[1], encoding="utf-8"):
    line = line.rstrip("\n")
    if line.startswith("# TYPE "):
        _, _, name, kind = line.split(" ")
        if name in seen:
            faults.append(f"{name} twice")
        seen[name] = kind
        continue
    if line.startswith("# HELP "):
        continue
    found = re.fullmatch(r'([a-z_]+)(\{(?:[a-z]+="(?:[^"\\\n]|\\.)*",?)*\})? (\S+)', line)
    if not found:
        faults.append(line)
        continue
    name, labels, number = found.groups()
    float(number)
    family = re.sub(r"_(bucket|sum|count)$", "", name) if seen.get(re.sub(r"_(bucket|sum|count)$", "", name)) == "histogram" else name
    if family not in seen:
        faults.append(f"{name} is not described")
    if seen.get(family) == "counter" and not family.endswith("_total"):
        faults.append(f"{family} is a counter by another name")
    if name.endswith("_bucket"):
        key = re.sub(r',?le="[^"]*"', "", labels)
        if float(number) < buckets.get(key, 0):
            faults.append(f"{line} falls")
        buckets[key] = float(number)
print(len(seen) > 30, len(buckets), faults)
PY
)
is "$checked" 'True 7 []' "the text is what Prometheus reads"
families=$(sed -n 's/^# TYPE \(\S*\) .*/\1/p' "$work/metrics" | sort -u)
# shellcheck disable=SC2016 # backquotes of the page
page=$(grep '^| `ced_' "$here/../../docs/operations/monitoring.md" 2>/dev/null | sed 's/ |.*//' | grep -o 'ced_[a-z_]*' | sort -u)
[[ -z $page ]] || is "$families" "$page" "the page lists every family, and no other"

PATH=$PATH:$CED_SOURCE/build/promtool/usr/bin
if command -v promtool >/dev/null; then
	exits 0 "promtool finds nothing wrong with them" bash -c "promtool check metrics <'$work/metrics'"
	is "$out$err" "" "nor anything to say"
	exits 0 "and the rules that we ship are rules" promtool check rules "$CED_SOURCE/examples/monitoring/ced.rules.yml"
else
	diag "skipped: there is no promtool here"
fi

exits 0 "into a file" cectl metrics --write "$work/ced.prom"
is "$(grep -c '^# TYPE' "$work/ced.prom")" "$(grep -c '^# TYPE' "$work/metrics")" "all of it"
is "$(ls "$work"/*.part 2>/dev/null)" '' "which leaves no part behind"
ln -s "$work/ced.prom" "$work/link"
mkfifo "$work/pipe"
for place in link pipe; do
	exits 1 "a $place is not replaced by a file" cectl metrics --write "$work/$place"
	like "$err" "$place is there already and is not an ordinary file" "as it says"
done
exits 2 "a file and a document at once" cectl metrics --write "$work/ced.prom" --json
exits 1 "a folder that is not there" cectl metrics --write "$work/none/ced.prom"
like "$err" 'none/ced.prom.*No such file' "is named"
is "$(json "$(cectl metrics --json)" 'sorted({f["type"] for f in it["families"]})')" '["counter", "gauge", "histogram"]' "as a document"

# Names have a ceiling.
/usr/bin/python3 - "$here" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
from wire import Client
client = Client()
for i in range(140):
    client.run("", agent=f"agent-{i}")
PY
cectl metrics >"$work/metrics"
is "$(grep -c '^ced_agent_runs_total{' "$work/metrics")" 129 "128 agents have a name in the metrics"
like "$(sample 'ced_agent_runs_total{agent="other"}')" '^1[0-9]$' "the rest are others"
if [[ $(id -u) == 0 ]]; then
	chmod 666 "$CED_SOCKET"
	setpriv --reuid 4001 --regid 4001 --clear-groups cectl run --agent another -c 1
	is "$(sample 'ced_agent_runs_total{agent="another"}')" 1 "but another user's agents have their names"
fi

# An act of an administrator is a fault that lasts until it is taken back.
cectl drain --reason 'a test' >/dev/null
exits 1 "a drained daemon" cectl status --check
like "$out" '^degraded.*drain: an administrator stopped new runs \(since 20.*cectl resume' "says what, since when, and what to type"
is "$(health '[it["status"], [(f["part"], f["level"]) for f in it["faults"]]]')" '["degraded", [["drain", "degraded"]]]' "as a document, too"
since=$(health 'it["faults"][0]["since_us"]')
is "$(health 'it["faults"][0]["since_us"]')" "$since" "the time stays"
is "$(sample 'ced_healthy ')" 0 "metrics say so"
like "$(cectl metrics)" 'ced_fault_since_seconds\{part="drain",level="degraded"\} 1[0-9]' "with the part"
cectl resume >/dev/null
exits 0 "and is well again" cectl status --check
like "$(<"$ced_log")" 'health\.fault part=drain' "the log has the fault"
like "$(<"$ced_log")" 'health\.recovered part=drain' "and its end"

# A fault that nobody asks about is noticed all the same.
mv "$ced_folder/second" "$ced_folder/away"
cectl run -c 'print(1)' >/dev/null
cectl audit checkpoint >/dev/null 2>&1
for ((tries = 0; tries < 600; tries++)); do
	grep -q 'health.fault part=checkpoints' "$ced_log" && break
	sleep 0.1
done
like "$(<"$ced_log")" 'health\.fault part=checkpoints' "the daemon looks by itself"
mv "$ced_folder/away" "$ced_folder/second"
cectl run -c 'print(1)' >/dev/null
cectl audit checkpoint >/dev/null
exits 0 "a file that can be written again" cectl status --check

if [[ $(id -u) == 0 ]]; then
	chmod 666 "$CED_SOCKET"
	exits 1 "an ordinary user" setpriv --reuid 4001 --regid 4001 --clear-groups cectl metrics
	like "$err" 'admin.metrics is for the role admin' "gets no metrics"
	exits 0 "but may ask for the word" setpriv --reuid 4001 --regid 4001 --clear-groups cectl status --check --json
	chmod 600 "$CED_SOCKET"
	exits 3 "unless the socket is closed to it" setpriv --reuid 4001 --regid 4001 --clear-groups cectl status --check
	is "$out" unknown "which is no fault of the daemon"
fi
daemon_stop
exits 2 "without a daemon" cectl status --check
like "$err" 'no daemon answers' "it is the worst"
is "$out" failing "a monitor that shows stdout has the word"
exits 125 "a timer writes metrics meanwhile" cectl metrics --write "$work/ced.prom"
is "$(grep -v '^#' "$work/ced.prom")" 'ced_up 0' "which say that nobody answers, and not what was true before"
done_testing
