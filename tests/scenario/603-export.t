#!/bin/bash
# The record as lines of JSON, and a copy of the store: whole, in bounded memory, while programs run.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start

# Runs of every kind.
echo data >"$work/in.txt"
cectl run -f in.txt -i '{"a": 1}' -e K=V -a '*' --label env=test --agent planner \
	-c 'print(open("in.txt").read(), end=""); open("o.bin", "wb").write(b"\xff\xfe")' >/dev/null
for code in 'import sys; sys.stdout.buffer.write(b"\xff\x00\n")' 'raise ValueError("x")' 'import subprocess' \
	'while True: pass' 'if' 'import socket; socket.socket()' 'print("é" * 60000)'; do
	cectl run -c "$code" --limit wall=300ms >/dev/null 2>&1
done
cectl run -p strict -c 'import os; os.system("x")' >/dev/null 2>&1
cectl run -c '' --limit wall=999h >/dev/null 2>&1
cectl run --output json -c 'print("no")' >/dev/null 2>&1
cectl replay last~3 >/dev/null 2>&1
cectl drain --reason 'a drill' >/dev/null
cectl resume >/dev/null

exits 0 "export" cectl audit export
printf '%s\n' "$out" >"$work/export.jsonl"
exits 0 "each line holds against the schema" bash -c "'$CED_BUILD/tests/hold_lines' \
	'$CED_SOURCE/proto/method/schemas/export.line.json' <'$work/export.jsonl'"
diag "$out"
# lines EXPRESSION: a Python expression over `lines`, the documents of the export.
lines() {
	/usr/bin/python3 -c '
import hashlib, json, sys
raw = open(sys.argv[1], "rb").read().splitlines(keepends=True)
lines = [json.loads(line) for line in raw]
kinds = lambda kind: [line for line in lines if line["kind"] == kind]
print(json.dumps(eval(sys.argv[2])))' "$work/export.jsonl" "$1" 2>&1
}
is "$(lines '[lines[0]["kind"], lines[-1]["kind"]]')" '["export", "end"]' "it says where it begins and where it ends"
is "$(lines '[lines[-1]["runs"], lines[-1]["acts"]] == [len(kinds("run")), len(kinds("act"))]')" true "and how much there is"
is "$(lines 'lines[-1]["sha256"] == "sha256:" + hashlib.sha256(b"".join(raw[:-1])).hexdigest()')" true "with a digest over it"
is "$(lines 'len(kinds("run"))')" 12 "every run is there"
is "$(lines '[run["run_id"] for run in kinds("run")] == sorted(run["run_id"] for run in kinds("run"))')" true "the oldest first"
is "$(lines 'sorted(act["method"] for act in kinds("act"))')" '["admin.drain", "admin.resume"]' "so is every act"
is "$(lines 'kinds("run")[1]["stdout"]')" '{"base64": "/wAK"}' "what is no text is base64"
is "$(lines '[len(kinds("run")[7]["stdout"].encode()) <= 65536, kinds("run")[7]["stdout_bytes"]]')" '[true, 120001]' "long streams are cut, and say how long they were"
exits 0 "whole" bash -c "cectl audit export --whole >'$work/export.jsonl'"
is "$(lines 'len(kinds("run")[7]["stdout"])')" 60001 "or are there whole"
exits 0 "without contents" bash -c "cectl audit export --no-contents >'$work/export.jsonl'"
exits 0 "it holds, too" bash -c "'$CED_BUILD/tests/hold_lines' '$CED_SOURCE/proto/method/schemas/export.line.json' <'$work/export.jsonl'"
is "$(lines '[key in run for run in kinds("run") for key in ("stdout", "stderr", "value") if key in run] + ["code" in run["request"] or "stdin" in run["request"] for run in kinds("run") if "code" in run["request"]]')" '[]' "nothing of what was run, read or written is in it"
is "$(lines 'all("code_hash" in run for run in kinds("run"))')" true "digests are"
unlike "$(cat "$work/export.jsonl")" 'socket.socket|ValueError\("x' "nor does it slip in elsewhere"
exits 0 "by time" bash -c "cectl audit export --since now >'$work/export.jsonl'"
is "$(lines 'len(kinds("run"))')" 0 "nothing has happened since now"
exits 0 "until" bash -c "cectl audit export --until yesterday >'$work/export.jsonl'"
is "$(lines 'len(kinds("run")) + len(kinds("act"))')" 0 "nor did before yesterday"
exits 2 "a wrong form" cectl audit export --format xml

exits 0 "OCSF" bash -c "cectl audit export --format ocsf >'$work/ocsf.jsonl'"
is "$(/usr/bin/python3 -c '
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
print(len(events), {event["class_uid"] for event in events}, sum(event["action_id"] == 2 for event in events),
      all(event["type_uid"] == event["class_uid"] * 100 + event["activity_id"] for event in events))
' "$work/ocsf.jsonl")" '12 {1007} 3 True' "has an event for each run, and says which were blocked"

# Spans: in their client's trace if the label is in its form, else in a trace of their own.
parent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
cectl run --label "traceparent=$parent" --agent tracer -c 'print(1)' >/dev/null
cectl run --label "traceparent=${parent/00-4/00-G}" --agent tracer -c 'print(2)' >/dev/null
cectl run --label "traceparent=00-00000000000000000000000000000000-00f067aa0ba902b7-01" --agent tracer -c '1/0' >/dev/null 2>&1
exits 0 "OpenTelemetry" bash -c "cectl audit export --format otlp >'$work/spans.jsonl'"
cectl audit export --format otlp --since 1h >"$work/again.jsonl"
is "$(cmp "$work/spans.jsonl" "$work/again.jsonl" 2>&1)" "" "the same runs are the same spans"
is "$(/usr/bin/python3 - "$work/spans.jsonl" <<'PY'
import json, re, sys
spans = []
for line in open(sys.argv[1], encoding="utf-8"):
    (resource,) = json.loads(line)["resourceSpans"]
    names = [attribute["key"] for attribute in resource["resource"]["attributes"]]
    (scope,) = resource["scopeSpans"]
    (span,) = scope["spans"]
    spans.append(span)
    assert names == ["service.name", "service.version"], names
    assert re.fullmatch("[0-9a-f]{32}", span["traceId"]) and re.fullmatch("[0-9a-f]{16}", span["spanId"]), span
    times = [int(event["timeUnixNano"]) for event in span["events"]]
    begin, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
    assert begin <= end and times == sorted(times) and all(begin <= time for time in times), span
    assert all(list(attribute["value"]) in (["stringValue"], ["intValue"]) for attribute in span["attributes"]), span
    assert all(isinstance(value, str) for attribute in span["attributes"] for value in attribute["value"].values()), span
first, second, third = [span for span in spans
                        if {"key": "ced.agent", "value": {"stringValue": "tracer"}} in span["attributes"]]
print(first["traceId"], first["parentSpanId"], first["status"], first["name"])
print("parentSpanId" in second, "parentSpanId" in third, second["traceId"] == third["traceId"], third["status"]["code"])
print(len(spans) == len({span["spanId"] for span in spans}))
PY
)" "4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 {'code': 1} run python
False False False 2
True" "each run is a span, with its steps"
exits 2 "a form that there is not" cectl audit export --format otel
like "$err" 'there are json, ocsf and otlp' "is refused with those that there are"

# Memory stays bounded, and a reader who is slow is waited for.
for _ in {1..40}; do
	cectl run -c 'import random; print("".join(chr(random.randrange(33, 126)) for _ in range(900000)))' >/dev/null
done
# peak COMMAND...: the most memory that a command had, in MiB.
peak() {
	/usr/bin/python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$@"
}
used=$(peak cectl audit export --whole)
most=80
[[ $CED_BUILD != *san* ]] || most=400 # a sanitizer keeps what was freed
((used < most))
ok $? "40 MB of output are exported with less than $most MiB ($used)"
cectl audit export --whole | { sleep 1; wc -c; } >"$work/bytes"
(($(cat "$work/bytes") > 36000000))
ok $? "to a slow reader, too"
exits 0 "who leaves ends it" bash -c 'cectl audit export --whole 2>/dev/null | head -c 100 >/dev/null; true'

# A copy, while programs run.
/usr/bin/python3 - "$here" >"$work/load" 2>&1 <<'PY' &
import sys, time
sys.path.insert(0, sys.argv[1])
from load import Load
load = Load(clients=4)
time.sleep(4)
load.finish()
print(len(load.answered), sum(load.refused.values()), len(load.odd))
PY
loaded=$!
sleep 1
exits 0 "backup" cectl audit backup "$work/copy.db"
like "$out" 'copy.db: [0-9]+ runs, .*every page' "says what it has"
is "$(stat -c %a "$work/copy.db")" 600 "the file is its owner's alone"
is "$(find "$work" -name '*.part*'; find "$ced_state" -name '*copy*')" "" "nothing else is left, here or there"
wait "$loaded"
exits 2 "a backup is not written to stdout" cectl audit backup -
like "$err" 'or ./- for a file' "and says what to write"
mkdir "$work/folder"
exits 1 "nor in place of a folder" cectl audit backup --force "$work/folder"
is "$(find "$work" -name 'folder*'; find . -name '-*')" "$work/folder" "and no file is left"
like "$(cat "$work/load")" '^[0-9]+ 0 0$' "no program was refused meanwhile: answered, refused, odd"
diag "$(cat "$work/load")"
exits 0 "a copy can be read" cectl --store "$work/copy.db" runs --json
exits 0 "and exported" bash -c "cectl --store '$work/copy.db' audit export >'$work/export.jsonl'"
is "$(ls "$work"/copy.db*)" "$work/copy.db" "and no file appears beside it"
is "$(lines 'lines[-1]["runs"] >= 52')" true "with what it has"
exits 1 "a file that is there stays" cectl audit backup "$work/copy.db"
exits 0 "unless it is to be replaced" cectl audit backup --force --json "$work/copy.db"
is "$(json "$out" '"sha256:" + __import__("hashlib").sha256(open(it["file"], "rb").read()).hexdigest() == it["sha256"]')" true "and the digest is that of the file"
exits 1 "a folder that is not there" cectl audit backup /nonexistent/copy.db
exits 125 "a copy is made of what a daemon has" cectl --store "$work/copy.db" audit backup "$work/second.db"

# Restoring.
cectl run -c 'print("later")' >/dev/null
daemon_stop
rm -f "$ced_state"/ced.db*
cp "$work/copy.db" "$ced_state/ced.db"
[[ $(id -u) != 0 ]] || chown "$(ced_account)": "$ced_state/ced.db"
daemon_start
unlike "$(cectl output last)" later "after a restore it is as it was then"
is "$(cectl run -c 'print(6 * 7)')" 42 "and programs run"

if [[ $(id -u) == 0 ]]; then
	chmod 777 "$(dirname "$CED_SOCKET")"
	chmod 666 "$CED_SOCKET"
	PATH=$(ced_programs)/bin:$PATH # the checkout may be closed to others
	for command in 'audit export' 'audit backup mine.db'; do
		# shellcheck disable=SC2086 # words on purpose
		exits 1 "$command is for administrators" \
			setpriv --reuid 4001 --regid 4001 --clear-groups bash -c "cd /tmp && TMPDIR=/tmp exec cectl ${command/mine.db/$(mktemp -u)}"
	done
fi
done_testing
