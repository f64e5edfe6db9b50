#!/bin/bash
# What the daemon writes into the journal: fields to search by, and a MESSAGE_ID that the catalog explains.
# 223-journal.py stands where journald listens, in a mount namespace of this test.
here=$(cd "$(dirname "$0")" && pwd)
if [[ $(id -u) == 0 && -z ${CED_JOURNAL:-} ]]; then
	CED_JOURNAL=own exec unshare --mount --propagation private bash "$0"
fi
if [[ $(id -u) == 0 ]]; then
	mount -t tmpfs -o mode=755 tmpfs /run && mkdir -p /run/systemd/journal
fi
. "$here/lib.sh"
[[ $(id -u) == 0 ]] || skip_all "only root can stand where journald listens"

/usr/bin/python3 "$here/223-journal.py" /run/systemd/journal/socket >"$work/entries" &
journal=$!
# shellcheck disable=SC2317 # the trap calls it
leave() {
	local status=$?
	kill "$journal" 2>/dev/null
	(exit "$status")
	ced_leave
}
trap leave EXIT
for ((tries = 0; tries < 600; tries++)); do
	[[ -S /run/systemd/journal/socket ]] && break
	sleep 0.1
done

# entries EVENT: those of this event, as a list.
entries() {
	/usr/bin/python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
print(json.dumps([row for row in rows if row.get("CED_EVENT") == sys.argv[2]]))' "$work/entries" "$1"
}
# until_entries EVENT COUNT: waits until so many are there.
until_entries() {
	local tries
	for ((tries = 0; tries < 600; tries++)); do
		[[ $(json "$(entries "$1")" 'len(it)') -ge $2 ]] && return 0
		sleep 0.1
	done
	return 1
}
settings() { printf '%s\n' 'cgroups = "auto"' "$@" >"$ced_folder/host.conf"; }

settings 'alert denied { outcome = {"policy_denied"} }'
ced_arguments=(--config "$ced_folder/host.conf")
daemon_start
cectl run --agent planner --policy strict -c 'import socket' >/dev/null 2>&1
until_entries alert 1
ok $? "an alert is in the journal"
entry=$(entries alert)
is "$(json "$entry" '[it[0][key] for key in ("CED_ALERT", "CED_OUTCOME", "CED_UID", "CED_AGENT", "PRIORITY", "SYSLOG_IDENTIFIER")]')" \
	"[\"denied\", \"policy_denied\", \"$(id -u)\", \"planner\", \"4\", \"ced\"]" "with its name, the outcome, and who"
is "$(json "$entry" 'it[0]["CED_RUN_ID"]')" "$(json "$(cectl runs --json)" 'it["runs"][0]["run_id"]')" "and the run"
is "$(entries run)" '[]' "runs are not, as long as the settings do not ask for them"

settings 'journal_runs = "failed"'
exits 0 "the settings ask for those that fail" cectl reload
cectl run -c 'print(1)' >/dev/null
cectl run --agent planner -c 'raise SystemExit(3)' >/dev/null 2>&1
until_entries run 1
ok $? "a run that fails is in the journal"
is "$(json "$(entries run)" '[[row[key] for key in ("CED_OUTCOME", "CED_AGENT", "PRIORITY")] for row in it]')" \
	'[["exit", "planner", "5"]]' "and none that is well"
settings 'journal_runs = "all"'
exits 0 "the settings ask for all" cectl reload
cectl run -c 'print(1)' >/dev/null
until_entries run 2
ok $? "then they are there"
is "$(json "$(entries run)" '[it[1][key] for key in ("CED_OUTCOME", "CED_RUN_ID", "PRIORITY")]')" \
	"[\"ok\", \"$(json "$(cectl runs --json)" 'it["runs"][0]["run_id"]')\", \"6\"]" "with outcome and run"

# --- a journal that hangs -------------------------------------------------------------------------

kill -STOP "$journal"
exits 0 "while the journal hangs, runs are answered" /usr/bin/python3 "$here/223-journal-hangs.py"
like "$(<"$ced_log")" 'journal\.dropped event=run' "and the log says that entries are dropped"
kill -CONT "$journal"
cectl run --id last -c 'print(1)' >/dev/null
id=$(json "$(cectl runs --json)" 'it["runs"][0]["run_id"]')
last_is_there() {
	local tries
	for ((tries = 0; tries < 600; tries++)); do
		[[ $(entries run) == *"$id"* ]] && return 0
		sleep 0.1
	done
	return 1
}
last_is_there
ok $? "when it reads again, it gets the next run"
cectl run --secret KEY=open-sesame --agent open-sesame -c 'print(1)' >/dev/null 2>&1
daemon_stop
unlike "$(<"$work/entries")" 'open-sesame' "a secret in the agent's name is masked there too"

# --- the catalog ----------------------------------------------------------------------------------

catalog=$CED_SOURCE/systemd/ced.catalog
ids=$(sed -n 's/^-- \([0-9a-f]\{32\}\)$/\1/p' "$catalog" | sort)
is "$(grep -o '"[0-9a-f]\{32\}"' "$CED_SOURCE/daemon/loop/service_manager.c" | tr -d '"' | sort)" "$ids" \
	"each MESSAGE_ID has its entry in the catalog"
is "$(json "$(entries alert)" 'it[0]["MESSAGE_ID"]')" "$(grep -B1 'Subject: An alert of ced' "$catalog" | sed -n 's/^-- //p')" \
	"and an alert has that of alerts"
if command -v journalctl >/dev/null; then
	mkdir -p "$work/root/usr/lib/systemd/catalog" "$work/root/var/lib/systemd/catalog"
	cp "$catalog" "$work/root/usr/lib/systemd/catalog/"
	exits 0 "journalctl reads the catalog" journalctl --root="$work/root" --update-catalog
	is "$(journalctl --root="$work/root" --list-catalog 2>/dev/null | grep -c ' ced: ')" "$(wc -w <<<"$ids")" "all of it"
fi
done_testing
