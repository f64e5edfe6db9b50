#!/bin/bash
# What administrators can do to the daemon: it is done at once, recorded, and holds.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start
/usr/bin/python3 "$here/114-admin-ops.py" >"$work/killed" 2>&1
ok $? "everything dies within 100 ms of the word"
report "$work/killed"
exits 75 "nothing new starts" cectl run -c 'print(1)'
like "$err" 'draining.*stopped new runs: a drill' "and it is told why"
exits 0 "what was killed is in the record" cectl runs --outcome canceled --json
is "$(json "$out" 'len(it["runs"][:6])')" 6 "all of it, of the last round"
like "$(cectl show last)" 'cancelled (before it began, )?by an administrator|cancelled by its caller' "and by whom"
exits 0 "resume" cectl resume
is "$(cectl run -c 'print(6 * 7)')" 42 "and it runs again"
exits 0 "drain" cectl drain --reason 'kernel update'
like "$(cectl status)" 'drained: takes no new runs' "status says so"
exits 0 "resume again" cectl resume

session=$(cectl session open)
cectl run --session "$session" -c 'x = 1' >/dev/null
cectl run --session "$session" -c 'x = 2' >/dev/null
exits 0 "block" cectl block "$(id -u)" --reason 'ticket 7'
like "$(cectl status)" "uid $(id -u) is blocked: ticket 7" "status says so"
exits 126 "a blocked user is refused" cectl run -c 'print(1)'
like "$err" 'forbidden.*blocked this user: ticket 7' "with the reason"
daemon_stop
daemon_start
exits 126 "also after a restart" cectl run -c 'print(1)'
for act in "rollback $session 1" "keep $session"; do
	# shellcheck disable=SC2086 # words
	exits 1 "nor session $act, in which code of the session runs" cectl session $act
	like "$err" 'forbidden.*blocked this user' "with the reason"
done
exits 0 "unblock" cectl unblock "$(id -u)"
is "$(cectl run -c 'print(6 * 7)')" 42 "and it runs again"
exits 2 "a user is one of this host or a number" cectl block no-such-user

exits 0 "acts" cectl acts
ok "$(($(grep -c 'admin\.' <<<"$out") < 6))" "each use is there"
like "$out" 'kernel update' "with its reason"
like "$(cectl acts --json | tr -d '\n')" '"reason": *"ticket 7"' "as JSON too"
all=$(json "$(cectl acts --json)" '[act["act"] for act in it["acts"]]')
first=$(cectl acts --json -n 2)
is "$(json "$first" '[len(it["acts"]), it["more"]]')" '[2, true]' "a page of them"
last=$(json "$first" 'it["acts"][-1]["act"]')
rest=$(cectl acts --json --before "$last")
is "$(/usr/bin/python3 -c 'import json, sys; print(json.dumps([act["act"] for page in sys.argv[1:] for act in json.loads(page)["acts"]]))' "$first" "$rest")" \
	"$all" "and the page behind it have each once"
exits 0 "on a page that is not the last" cectl acts -n 2
like "$err" "older ones: the same with --before $last" "it is said how to go on"
exits 0 "before the first" cectl acts --before 1
like "$err" 'nothing was done before that' "nothing was done"
exits 2 "a number is a number" cectl acts --before never
if [[ $(id -u) == 0 ]]; then
	chmod 777 "$(dirname "$CED_SOCKET")"
	chmod 666 "$CED_SOCKET"
	for command in drain resume kill-all 'block 1' 'unblock 1' acts; do
		# shellcheck disable=SC2086 # two words on purpose
		exits 1 "$command is for administrators" \
			setpriv --reuid 4001 --regid 4001 --clear-groups cectl $command
	done
fi
done_testing
