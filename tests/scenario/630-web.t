#!/bin/bash
# cectl web: what it answers, to whom, and attacks by other pages, other users and broken requests.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start

# The script asks for the daemon's end and start by lines, since only this shell has started it.
mkfifo "$work/wishes"
/usr/bin/python3 "$here/630-web.py" "$work" >"$work/told" 2>"$work/wishes" &
script=$!
while read -r wish; do
	case $wish in
	"daemon stop") daemon_stop ;;
	"daemon start") daemon_start ;;
	*) echo "# $wish" ;;
	esac
done <"$work/wishes"
wait "$script"
ok $? "without a browser"
report "$work/told"

CED_SOCKET=/nowhere/ced.sock cectl web >"$work/out" 2>"$work/err" &
web=$!
for ((tries = 0; tries < 1200; tries++)); do
	[[ -s $work/out ]] && break
	sleep 0.1
done
kill "$web"
wait "$web"
is $? 143 "a signal ends it"
like "$(<"$work/out")" '^http://127\.0\.0\.1:[0-9]+/#token=[0-9a-f]{64}$' "its address is all of its output"
like "$(<"$work/err")" 'no daemon answers at /nowhere/ced.sock.*the page waits for it' "a daemon that is not there is named"
exits 2 "it takes no operand" timeout 60 cectl web here
exits 125 "nor a copy of a store" timeout 60 cectl web --store "$work"
done_testing
