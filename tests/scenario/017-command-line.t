#!/bin/bash
# What a shell meets: exit statuses that mean one thing, one document for --json, nothing lost silently.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
exits 2 "a day that no month has is refused" cectl runs --since 2026-02-30
like "$err" '"2026-02-30" is not a time' "by name"
exits 125 "while another day is none" cectl runs --since 2026-02-28
exits 2 "watch of no events is refused" cectl watch -n 0
exits 2 "a size without a unit is refused where it says what stays" cectl gc --keep-size 10
like "$err" '"10" has no unit: write 10k, 10m or 10g' "with what to write"
echo 'keep_bytes = 10' >"$work/small.conf"
"$(ced_programs)/libexec/ced/ced" --check-config "$work/small.conf" >"$work/out" 2>&1
is $? 1 "in a configuration too"
like "$(<"$work/out")" 'keep_bytes = 10 has no unit: write 10kb, 10mb or 10gb' "with what to write"
for value in 0 64mb; do
	echo "keep_bytes = $value" >"$work/small.conf"
	"$(ced_programs)/libexec/ced/ced" --in-force --config "$work/small.conf" >/dev/null 2>&1
	is $? 0 "keep_bytes = $value is taken"
done

daemon_start
for words in "runs --outcome bad" "runs --code-hash abc" "stats --by x" "watch -k x" "acts -n 1001" "show last~x"; do
	# shellcheck disable=SC2086 # several words
	exits 2 "cectl $words is a wrong command line" cectl $words
done
exits 125 "wait for no run is not the program's 1" cectl wait zzz
exits 125 "nor is a time that is too long" cectl wait -t 99d last
like "$err" 'at most 1d' "which says what is the most"

touch "$work/file"
exits 125 "a bad --out" cectl run --json -c 'print(1)' --out "$work/file"
is "$(json "$out" 'it["error"]["code"]')" system "is one document"
is "$(json "$(cectl runs --json)" 'len(it["runs"])')" 0 "and nothing has run"
exits 125 "an artifact that cannot be written" \
	cectl run --json -c 'open("a", "w").write("x")' --out "$(mkdir -p "$work/taken/a"; echo "$work/taken")"
is "$(json "$out" 'it["outcome"]')" ok "is told beside the result, which is the document"
like "$err" 'artifact a: something that is not a regular file' "by its name"

exits 0 "more artifacts than are taken" \
	cectl run -c 'for i in range(20): open(f"a{i}", "w").write("x")' -a '*'
like "$err" 'more artifacts left out: .*at most 16 .*--limit artifact_count=N' "are told with what to type"
exits 0 "which works" cectl run -c 'for i in range(20): open(f"a{i}", "w").write("x")' -a '*' \
	--limit artifact_count=20
unlike "$err" 'left out' "for all of them"

cectl run -c 'for i in range(30000): print("line", i)' >/dev/null
full=$(cectl show last --full)
like "$full" 'line 29999' "show --full shows all of a long output"
unlike "$full" '\.\.\. more' "and needs no more"

id=$(cectl run --json --id once -c 'print(5)' | json "$(cat)" 'it["run_id"]')
cectl run -c 1
cectl gc --keep-runs 1 >/dev/null
exits 125 "wait for a run whose contents have left" cectl wait "$id"
like "$err" 'have left the store: act [0-9]+' "says so"
exits 125 "the same id is not the program's 1" cectl run --id once -c 'print(5)'

head -c $((16 << 20)) /dev/zero >"$work/big"
bash -c 'exec cectl run -c 1 <"$1"' - "$work/big" 2>"$work/err"
is $? 126 "a stdin that is too large is refused"
like "$(<"$work/err")" 'its stdin.*cectl put FILE' "with what can be done"
/usr/bin/python3 - "$here/../../examples" >"$work/out" 2>&1 <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
from client import Client, Refused
try:
    Client().run("print(1)", stdin=b"x" * (40 << 20))
except Refused as why:
    print(why.code)
PY
is "$(<"$work/out")" too_large "examples/client.py shows the refusal of a message that is too large"

for command in "audit export" "runs" "status --json"; do
	bash -c "exec cectl $command >/dev/full" 2>"$work/err"
	is $? 125 "cectl $command into a full disk ends with 125"
done

# One line of an error is one write.
python3 - <<'PY'
import subprocess, sys
import socket
reader, writer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
process = subprocess.Popen(["cectl", "run", "-c", "1/0"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=writer)
process.wait()
writer.close()
lines = []
while piece := reader.recv(1 << 16):
    lines.append(piece.decode())
sys.exit(not lines or not all(line.endswith("\n") for line in lines))
PY
ok $? "what cectl writes on stderr comes in whole lines"

cectl drain >/dev/null
exits 75 "a daemon that drains is asked again later" cectl run -c 1
done_testing
