#!/bin/bash
# A store that was wiped, and the file of checkpoints outside of it: found at the start.
. "$(dirname "$0")/lib.sh"
only python
mkdir "$ced_folder/second"
[[ $(id -u) != 0 ]] || chown "$(ced_account)": "$ced_folder/second"
second=$ced_folder/second/checkpoints
cat >"$ced_folder/ced.conf" <<CONF
cgroups = "auto"
checkpoint_file = "$second"
CONF
ced_arguments=(--config "$ced_folder/ced.conf")
# start_ends: a start that is refused; what it logs is in $ced_log.
start_ends() {
	local state=$1 socket=$2 conf=$3 programs
	programs=$(ced_programs)
	: >"$work/refused"
	"${ced_own[@]}" timeout 20 "$programs/bin/ced-spawner" --libexec "$programs/libexec/ced" -- --config "$conf" \
		--socket "$socket" --state "$state" >>"$work/refused" 2>&1 </dev/null
	ok "$([[ $? != 0 && $? != 124 ]]; echo $?)" "$4"
}
daemon_start
is "$(cectl run -c 'print(1)')" 1 "a run is recorded"
exits 0 "and a checkpoint is signed" cectl audit checkpoint

# --- a second daemon with the same file ----------------------------------------------------------
mkdir -m 700 "$ced_folder/other"
mkdir -m 755 "$ced_folder/run2"
[[ $(id -u) != 0 ]] || chown "$(ced_account)": "$ced_folder/other" "$ced_folder/run2"
start_ends "$ced_folder/other" "$ced_folder/run2/ced.sock" "$ced_folder/ced.conf" \
	"a second daemon with the same checkpoint_file does not start"
like "$(cat "$work/refused")" 'another daemon appends to this file' "and says why"
daemon_stop

# --- a state folder that was wiped ---------------------------------------------------------------
find "$ced_state" -mindepth 1 -delete
sed 's/^checkpoint_file/rollback = "refuse"\n&/' "$ced_folder/ced.conf" >"$ced_folder/refuse.conf"
for start in first second; do
	start_ends "$ced_state" "$CED_SOCKET" "$ced_folder/refuse.conf" \
		"with rollback = \"refuse\" the $start start on a wiped state folder is refused"
	like "$(cat "$work/refused")" 'start.failed why="the second file has checkpoints of another key' "and says why"
done
daemon_start
like "$(cat "$ced_log")" 'audit.alarm why="the second file has checkpoints of another key' "without it the daemon starts with an alarm"
like "$(json "$(cectl status --json)" 'it["audit"]["alarm"]')" 'wiped or replaced' "which is in its status"
like "$(cectl acts)" 'audit.alarm' "and in the record"
exits 0 "a new file begins" cectl audit checkpoint
daemon_stop
daemon_start
is "$(json "$(cectl status --json)" 'it["audit"]["alarm"]')" None "and the next start has no alarm"
daemon_stop

# --- no such folder ------------------------------------------------------------------------------
sed -i "s|^checkpoint_file.*|checkpoint_file = \"$ced_folder/nosuch/checkpoints\"|" "$ced_folder/ced.conf"
exits 1 "a checkpoint_file in no folder is refused by --check-config" "$(ced_programs)/libexec/ced/ced" --check-config "$ced_folder/ced.conf"
like "$err" 'line 2: checkpoint_file = .*there is no folder' "with its line"
daemon_start
like "$(cat "$ced_log")" 'audit.no_checkpoint why=.*nosuch' "and a start warns at once"
like "$(json "$(cectl status --json)" 'it["audit"]["trouble"]')" 'nosuch' "as status does"
# --- a daemon that is killed -----------------------------------------------------------------------
kill -KILL "$(pgrep -o -P "$ced_spawner")"
wait "$ced_spawner"
is $? 137 "the spawner leaves with the daemon"
ced_spawner=
like "$(cat "$ced_log")" 'ced-spawner daemon.killed text="ced was killed by signal 9' "and logs why"
done_testing
