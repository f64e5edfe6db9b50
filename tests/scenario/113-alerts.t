#!/bin/bash
# Rules of the configuration that tell of runs: as events, in the log, by commands.
ced_runner=
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
# shellcheck disable=SC2317 # the trap calls it
leave() {
	local status=$?
	[[ -z $ced_runner ]] || kill "$ced_runner"
	(exit "$status")
	ced_leave
}
trap leave EXIT
mkdir -m 777 "$work/left"
cat >"$work/keep" <<'SH'
#!/bin/sh
cat >>"$1/$CED_ALERT"
echo >>"$1/$CED_ALERT"
env >"$1/env"
ls -l /proc/$$/fd | grep -c -- '->' >"$1/descriptors"
grep NoNewPrivs /proc/self/status >"$1/rights"
SH
chmod 755 "$work/keep"
cat >"$ced_folder/ced.conf" <<CONF
cgroups = "auto"
alert taken-along { outcome = {"lost"} rest_ms = 0 command = {"$work/keep", "$work/left"} }
alert limits {
	outcome = {"wall_limit", "memory_limit"}
	rest_ms = 0
	command = {"$work/keep", "$work/left", "no shell; touch $work/left/shell"}
}
alert denials { outcome = {"policy_denied"} per = "agent" count = 3 within_ms = 1min rest_ms = 1min }
alert network { rule = "python.import.*" outcome = {"ok"} }
alert new-code { agent = "steady" new_code = true rest_ms = 0 }
alert hangs { outcome = {"exception"} rest_ms = 0 command = {"/bin/sleep", "600"} }
alert missing { agent = "missing" command = {"/nonexistent/program"} }
CONF
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start

# The service that starts commands.
runner() {
	SECRET=x "$(ced_programs)/libexec/ced/ced" --alerts --config "$ced_folder/ced.conf" \
		--socket "$CED_SOCKET" 2>>"$work/runner.log" </dev/null &
	ced_runner=$!
}
: >"$work/runner.log"
runner
for _ in {1..50}; do
	grep -q alerts.listening "$work/runner.log" && break
	sleep 0.1
done
/usr/bin/python3 "$here/113-alerts.py" "$work/left" "$ced_log" "$work/runner.log" >"$work/told" 2>&1
ok $? "alerts are told"
grep -v '^ok' "$work/told" | sed 's/^/# /'
like "$(cat "$work/told")" 'ok 2[0-9] ' "all of it was tried"

# One that is counted says so, and nothing of readers that are too slow.
subscribers() {
	json "$(cectl status --json)" 'it["subscriptions"]'
}
before=$(subscribers)
cectl watch -k alert >"$work/seen" &
watcher=$!
for _ in {1..200}; do
	[[ $(subscribers) -gt $before ]] && break
	sleep 0.05
done
for _ in 1 2 3; do
	cectl run --agent watched --policy strict -c 'import socket' 2>/dev/null
done
for _ in {1..200}; do
	grep -q 'agent watched' "$work/seen" && break
	sleep 0.05
done
kill "$watcher"
like "$(cat "$work/seen")" 'alert .*policy_denied  agent watched  denials  denials: 3 runs' \
	"cectl watch tells an alert as what it is"
is "$(sort "$work/left/env" | grep -v '^\(PWD\|SHLVL\|_\|OLDPWD\)=')" $'CED_ALERT=limits\nHOME=/\nLANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin' \
	"a command has an environment of four variables"
(($(cat "$work/left/descriptors") <= 5))
ok $? "and no descriptors of ours"
like "$(cat "$work/left/rights")" 'NoNewPrivs:.*1' "it can gain no rights"
is "$(ls "$work/left/shell" 2>/dev/null)" "" "and no shell looks at its words"

# It outlives the daemon, and its commands do not outlive it.
lost=$(cectl run --detach -c 'import time; time.sleep(60)')
daemon_kill
daemon_start
for _ in {1..50}; do
	[[ $(grep -c alerts.listening "$work/runner.log") == 2 ]] && break
	sleep 0.1
done
for _ in {1..300}; do
	[[ -s $work/left/taken-along ]] && break
	sleep 0.1
done
like "$(cat "$work/left/taken-along")" "\"run_id\":\"$lost\".*\"outcome\":\"lost\"" "a run that went with the daemon is told of when it is back"
: >"$work/left/limits"
cectl run -c 'while True: pass' --limit wall=100ms >/dev/null 2>&1
for _ in {1..50}; do
	[[ -s $work/left/limits ]] && break
	sleep 0.1
done
like "$(cat "$work/left/limits")" '"outcome":"wall_limit"' "after a restart of the daemon it hears on"
cectl run -c 'raise ValueError()' >/dev/null 2>&1
sleep 0.5
sleeping=$(pgrep -P "$ced_runner" -x sleep)
like "$sleeping" '^[0-9]+$' "a command runs below it"
kill "$ced_runner"
wait "$ced_runner"
is $? 0 "it leaves when it is told to"
ced_runner=
sleep 0.2
unlike "$(ps -o stat= -p "$sleeping")" "^[^Z]" "and what it started dies with it"

# What is wrong in a rule is said by name.
wrong() {
	echo "alert x { $1 }" >"$work/wrong.conf"
	like "$("$(ced_programs)/libexec/ced/ced" --in-force --config "$work/wrong.conf" 2>&1)" "$2" "refused: $1"
}
wrong 'outcome = {"bad"}' 'line 1: outcome: there is no outcome "bad"'
wrong 'command = {"notify"}' 'not an absolute path'
wrong 'per = "moon"' 'per = "moon": write "all", "uid" or "agent"'
wrong 'count = 1000' 'count = 1000 is outside 1 to 100'
wrong 'within_ms = 5mb' 'within_ms = 5mb is invalid'
done_testing
