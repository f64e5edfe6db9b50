#!/bin/bash
# Has anybody touched the record?  Verified online, under load and on a copy; checkpoints that openssl believes; a
# store that was rolled back is told at the start, or not started with.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
printf '%s\n' 'cgroups = "auto"' 'runtime bash { off = true }' 'runtime javascript { off = true }' >"$work/ced.conf"
ced_arguments=(--config "$work/ced.conf")
second=$ced_state/checkpoints.log

# edit SQL: what somebody with rights over the file would do, while no daemon runs.
edit() {
	/usr/bin/python3 - "$ced_state/ced.db" "$1" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript(sys.argv[2])
db.commit()
PY
}

# copy FROM TO: the store as it lies there.
copy() {
	mkdir -p "$2"
	cp -p "$1"/ced.db* "$2/"
}

daemon_start
for number in 1 2 3 4 5 6; do
	cectl run --label "number=$number" -c "print('line ' * 100, $number)" >/dev/null
done
cectl run -c 'import sys; sys.exit(3)' >/dev/null
cectl block 4711 --reason 'for the record' >/dev/null
second_run=$(cectl runs --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][5]["run_id"])')

# --- what a record has ----------------------------------------------------------------------------

cectl run --limit wall=2s --agent auditor --task "the audit" -c 'print(1)' >/dev/null
record=$(cectl show last --json)
is "$(json "$record" '[it["caller"]["uid"], it["caller"]["name"], it["request"]["agent"], it["request"]["task"]]')" \
	"[$(id -u), \"cectl\", \"auditor\", \"the audit\"]" "a record knows who called"
is "$(json "$record" '[it["limits_asked"], it["limits"]["wall_ms"], it["limits"]["enforced_by"]["wall_ms"]]')" \
	'[{"wall_ms": 2000}, 2000, "clock"]' "the limits that were asked for, those in force, and what held them"
is "$(json "$record" 'all(it["runtime"][key] for key in ("name", "digest", "ced", "kernel", "filters"))')" true \
	"what it ran on, down to the filters"
is "$(json "$record" 'bool(it["policy"]["digest"] and it["code_hash"] and it["input_hash"] and it["trace"] and it["metrics"])')" true \
	"and under which rules, with what, and how it went"

# --- as it is -----------------------------------------------------------------------------------

exits 0 "a store that nobody touched verifies" cectl audit verify
like "$out" 'no change found' "and cectl says so"
exits 0 "a part of the chain can be verified alone" cectl audit verify --from 2 --to 4
like "$out" ' 3 links' "and nothing else is looked at then"
exits 0 "with --json it is one document" cectl audit verify --json
is "$(json "$out" '[it["ok"], it["found"], it["checked"]["chain"] >= 8]')" '[true, 0, true]' "that has what was checked"
exits 2 "a link that is none is refused" cectl audit verify --from zero
exits 1 "links that are not there are not said to be well" cectl audit verify --from 100000 --to 100010
like "$out" 'the chain ends at link [0-9]+, and link 100010 was asked for' "but missed"
exits 1 "nor those behind the last" cectl audit verify --from 2 --to 100000

shown=$(TERM=xterm /usr/bin/python3 - <<'PY'
import os, pty
heard = b""
told = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
def read(fd):
    global heard
    data = os.read(fd, 4096)
    heard += data
    return data
status = pty.spawn(["cectl", "audit", "verify"], read, lambda fd: b"")
bar = heard.rfind(b"verifying")
words = [status, bar >= 0, heard[bar:].find(b"\r\033[K") > 0, b"no change found" in heard[bar:]]
os.write(told, " ".join(map(str, words)).encode())
PY
)
is "$shown" "0 True True True" "on a terminal a bar shows how far it is, and goes before the answer"

# --- checkpoints --------------------------------------------------------------------------------

exits 0 "a checkpoint is made when asked for" cectl audit checkpoint
line=$out
like "$line" '^ced-checkpoint-1 links=[0-9]+ head=sha256:[0-9a-f]{64} at_us=[0-9]+ key=ed25519:[A-Za-z0-9+/=]+ signature=' \
	"which is one line"
is "$(tail -n 1 "$second")" "$line" "that stands in the second file too"
like "$(cat "$ced_log")" 'audit.checkpoint' "and in the log"
exits 0 "where nothing has come since, the last one is told again" cectl audit checkpoint
is "$out" "$line" "the same line"
mv "$second" "$work/rotated.log"
exits 0 "and when the second file was put away" cectl audit checkpoint
is "$(cat "$second")" "$line" "it stands in the new one"
cectl audit checkpoint >/dev/null
is "$(grep -cF "$line" "$second")" 1 "once"
cectl audit key --pem >"$work/key.pem"
cectl audit key >"$work/key"
printf %s "${line% signature=*}" >"$work/signed"
printf %s "${line##* signature=}" | base64 -d >"$work/signature"
if command -v openssl >/dev/null; then
	exits 0 "openssl believes the signature" openssl pkeyutl -verify -rawin -pubin -inkey "$work/key.pem" \
		-sigfile "$work/signature" -in "$work/signed"
fi
is "$(stat -c %a "$ced_state/audit.key")" 600 "nobody else may read the key"
is "$(json "$(cectl status --json)" 'it["audit"]["links"] > 0')" true "status knows of it"
like "$(json "$(cectl status --json)" 'it["audit"]["alarm"]')" 'the second file lacks' "and that the second file was put away while the daemon ran"

# --- for whom -----------------------------------------------------------------------------------

if [[ $(id -u) == 0 ]]; then
	chmod 666 "$CED_SOCKET"
	chmod 755 "$ced_folder"
	programs=$(ced_programs)
	exits 1 "who is no administrator exports nothing" setpriv --reuid 65533 --regid 65533 --clear-groups \
		"$programs/bin/cectl" audit export
	is "$out" "" "not even the first line"
	exits 1 "who is no administrator verifies nothing" setpriv --reuid 65533 --regid 65533 --clear-groups \
		"$programs/bin/cectl" audit verify
	like "$err" 'forbidden' "and is told why"
	is "$(grep -c '^cectl:' <<<"$err")" 1 "once, although several questions were refused"
fi

# --- one of its two tracks fails ----------------------------------------------------------------

# breaks HOW STATUS WORDS NAME
breaks() {
	local server socket=$work/$1.sock
	/usr/bin/python3 "$here/604-audit.py" "$socket" "$1" >"$work/$1" 2>&1 &
	server=$!
	for ((i = 0; i < 600; i++)); do
		[[ -S $socket ]] && break
		sleep 0.1
	done
	exits "$2" "$4" timeout 120 cectl --socket "$socket" audit verify
	like "$err" "$3" "and says why"
	is "$(grep -c '^cectl:' <<<"$err")" 1 "once"
	kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
}
if /usr/bin/python3 -c 'import msgpack' 2>/dev/null; then
	breaks refused 1 'the disk failed' "an error ends both tracks, also one that would go on for ever"
	breaks closed 125 'closed the connection' "and so does a connection that breaks"
fi
exits 125 "without a daemon there is one message too" cectl --socket "$work/none.sock" audit verify
is "$(grep -c '^cectl:' <<<"$err")" 1 "and not one for each track"
exits 125 "nor for a file that is not there" cectl --store "$work/none.db" audit verify --json
is "$(json "$out" 'it["error"]["code"]')" missing "and one document"

# --- under load ---------------------------------------------------------------------------------

for worker in 1 2 3; do
	(for ((i = 0; i < 60; i++)); do cectl run -c "print($worker, $i)" >/dev/null 2>&1; done) &
done
clean=0
for ((i = 0; i < 6; i++)); do
	cectl audit verify >"$work/under_load" 2>&1 && clean=$((clean + 1))
done
wait %2 %3 %4 2>/dev/null
is "$clean" 6 "while runs are recorded nothing is found either"
[[ $clean == 6 ]] || diag "$(cat "$work/under_load")"

# --- a copy -------------------------------------------------------------------------------------

cectl audit checkpoint >/dev/null
cp "$second" "$work/kept.log"
daemon_stop
copy "$ced_state" "$work/early"
cp "$second" "$work/early/"
exits 0 "a copy verifies without a daemon, by what was kept elsewhere" \
	cectl --store "$ced_state" audit verify --key "$work/key" --checkpoints "$work/kept.log"
like "$out" 'lines of the second file' "the second file among it"
unlike "$out" 'against itself alone' "and nothing is left to say"
exits 0 "without these it verifies, too" cectl --store "$ced_state" audit verify
like "$out" 'against itself alone' "but says what that is worth"

# --- touched ------------------------------------------------------------------------------------

# touched WORDS SQL NAME: found online, at the next start, and on the copy.
touched() {
	rm -f "$ced_state"/ced.db*
	cp -p "$work/early"/ced.db* "$ced_state/"
	edit "$2"
	exits 1 "$3: found on a copy" cectl --store "$ced_state" audit verify
	like "$out" "$1" "and named"
	daemon_start
	exits 1 "and found by the daemon" cectl audit verify
	like "$out" "$1" "in the same words"
	daemon_stop
}
key="(SELECT key FROM runs WHERE run_id = '$second_run')"
touched "run $second_run" "UPDATE runs SET uid = 54321 WHERE key = $key" "another caller"
touched "run $second_run" "UPDATE records SET trace = '[]' WHERE key = $key" "steps that were left out"
touched 'was removed from the store' "DELETE FROM runs WHERE key = $key; DELETE FROM records WHERE key = $key;
	DELETE FROM labels WHERE key = $key; DELETE FROM facets WHERE key = $key" "a run that was taken out"
touched 'not those that were recorded' "UPDATE blob_data SET codec = 0, data = zeroblob(5)" "other contents"
touched 'added that is not in the chain' "INSERT INTO acts (at_us, uid, gid, pid, method, params, result)
	VALUES (1, 0, 0, 1, 'admin.drain', '{}', '{}')" "an act that nobody did"

# --- rolled back --------------------------------------------------------------------------------

rm -f "$ced_state"/ced.db*
cp -p "$work/early"/ced.db* "$ced_state/"
daemon_start
cectl run -c 'print("the last one")' >/dev/null
cectl audit checkpoint >/dev/null
daemon_stop
rm -f "$ced_state"/ced.db*
cp -p "$work/early"/ced.db* "$ced_state/"
exits 1 "a store that was rolled back is told by the second file" \
	cectl --store "$ced_state" audit verify --checkpoints "$second"
like "$out" 'does not reach so far: it was rolled back' "in words"
daemon_start
like "$(cat "$ced_log")" 'audit.alarm why="the (store ends at link|mark beside the store says that link)' "the daemon says so when it starts"
like "$(json "$(cectl status --json)" 'it["audit"]["alarm"]')" 'it was rolled back' "and in its status"
like "$(cectl acts)" 'audit.alarm' "and it is in the record"
exits 1 "verification goes on telling it" cectl audit verify
daemon_stop
echo 'rollback = "refuse"' >>"$work/ced.conf"
rm -f "$ced_state"/ced.db*
cp -p "$work/early"/ced.db* "$ced_state/"
: >"$ced_log"
programs=$(ced_programs)
"${ced_own[@]}" timeout 20 "$programs/bin/ced-spawner" --libexec "$programs/libexec/ced" -- --socket "$CED_SOCKET" \
	--state "$ced_state" "${ced_arguments[@]}" >>"$ced_log" 2>&1 </dev/null
ok "$([[ $? != 0 && $? != 124 ]]; echo $?)" "with rollback = \"refuse\" it does not start"
like "$(cat "$ced_log")" 'start.failed why="the (store ends at link|mark beside the store says that link)' "and says why"
mv "$second" "$work/archived.log"
mv "$ced_state/checkpoints.told" "$ced_state/ced.mark" "$work/"
daemon_start
is "$(json "$(cectl status --json)" 'it["audit"]["alarm"]')" None "with the second file put away it starts, and a new one begins"
exits 0 "and what is there verifies" cectl audit verify

# --- the second file is emptied ------------------------------------------------------------------

sed -i '/^rollback/d' "$work/ced.conf"
cectl run -c 'print(1)' >/dev/null
daemon_stop
: >"$second"
daemon_start
like "$(cat "$ced_log")" 'audit.alarm why="the second file lacks.* repair="[^=]*The second file was removed or cut off' \
	"an emptied second file is told with the section that helps"
like "$(cectl status | head -n 1)" '^✗ ced ' "status begins with a cross"
like "$(cectl status)" '✗ audit alarm: the second file lacks' "and says why"
like "$(cectl doctor)" 'audit alarm: the second file lacks' "doctor says it too"
daemon_stop
daemon_start
like "$(cectl status | head -n 1)" '^✓ ced ' "the start after that is quiet"
done_testing
