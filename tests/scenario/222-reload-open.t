#!/bin/bash
# What a reload changes for what is open: roles of connected clients, and patterns of secrets.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

conf=$ced_folder/host.conf
patterns=$work/patterns.json
settings() { printf '%s\n' 'cgroups = "auto"' 'socket_mode = "0666"' "$@" >"$conf"; }
# house PREFIX: numbers behind this prefix are secrets.
house() {
	printf '{"patterns": [{"name": "house", "words": ["%s-"], "pattern": "%s-[0-9]+", "matches": [["", "%s-1", "."]], "passes": ["%s-no"]}]}\n' \
		"$1" "$1" "$1" "$1" >"$patterns"
}
# stored TEXT: what the record has of a program that prints it.
stored() {
	cectl run -c "print('$1')" >/dev/null
	json "$(cectl show last --json)" 'it["stdout"].strip()'
}

settings
ced_arguments=(--config "$conf")
daemon_start

# --- patterns of secrets ------------------------------------------------------------------------

is "$(stored HT-77)" HT-77 "without a pattern of the house nothing is masked"
house HT
settings "redactions = \"$patterns\""
exits 0 "a file of patterns is named" cectl reload --json
is "$(json "$out" '[it["patterns"], it["policies"], it["waits"]]')" '[true, false, []]' "the reload says that patterns have changed"
is "$(stored HT-77)" '[masked:house]' "and they are in force"
exits 0 "a reload without a change" cectl reload --json
is "$(json "$out" 'it["patterns"]')" false "says so"
house XY
exits 0 "the file changes, and not its name" cectl reload
like "$out" 'the patterns of secrets have changed' "the reload notices"
is "$(stored HT-77) $(stored XY-77)" 'HT-77 [masked:house]' "and the new ones are in force"
echo '{"patterns": [{"name": "house", "words": ["XY-"], "pattern": "XY-[0-9+", "matches": [["", "XY-1", "."]], "passes": ["XY-no"]}]}' >"$patterns"
exits 1 "a pattern that cannot be read is refused" cectl reload
like "$err" "redactions.*house" "by its name"
is "$(stored XY-77)" '[masked:house]' "and those in force stay"
house XY

# --- roles --------------------------------------------------------------------------------------

if [[ $(id -u) == 0 ]]; then
	cp "$here/wire.py" "$here/222-reload-open.py" "$work/" # the checkout may be closed to others
	chmod 755 "$work"
	mkfifo "$work/told" "$work/heard"
	chmod 666 "$work/told" "$work/heard"
	settings 'admins = {4001}'
	exits 0 "a user becomes an administrator" cectl reload
	setpriv --reuid 4001 --regid 4001 --clear-groups /usr/bin/python3 "$work/222-reload-open.py" \
		"$work/told" "$work/heard" >"$work/roles" 2>&1 &
	client=$!
	exec {heard}<>"$work/heard" {told}<>"$work/told"
	# next WORD: lets the client go on, and waits until it is there.
	next() {
		echo "$1" >&"$told"
		read -r -t 120 line <&"$heard"
		is "${line:-}" "$1" "the client goes on: $1"
	}
	read -r -t 120 line <&"$heard"
	is "${line:-}" connected "a client of that user is connected"
	settings
	exits 0 "the user is no administrator any more" cectl reload
	cectl run -c 'print("of root")' >/dev/null
	next demoted
	settings 'users = {4002}'
	exits 0 "nor a user" cectl reload
	next refused
	settings 'admins = {4001}'
	exits 0 "then an administrator again" cectl reload
	next promoted
	exec {told}>&- {heard}<&-
	wait "$client"
	ok $? "its one connection has had each role in turn"
	report "$work/roles"
fi

daemon_stop
unlike "$(<"$ced_log")" 'Sanitizer' "it stops as ever"
done_testing
