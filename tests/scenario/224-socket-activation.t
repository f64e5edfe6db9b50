#!/bin/bash
# systemd makes the socket and keeps it: clients wait through a start and through restarts, and none is
# refused.  manager.py does here what systemd does.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

programs=$(ced_programs)
# manager FILE.py ARGUMENT...: that program, with the command of a daemon behind its arguments.
manager() {
	CED_LOG=$ced_log PYTHONPATH=$here /usr/bin/python3 "$here/$1" "${@:2}" "${ced_own[@]}" \
		"$programs/bin/ced-spawner" --libexec "$programs/libexec/ced" -- \
		--socket "$CED_SOCKET" --state "$ced_state" "${ced_arguments[@]}"
}
manager 224-socket-activation.py "${CED_RESTARTS:-8}" >"$work/said" 2>&1
ok $? "restarts by socket activation"
report "$work/said"
like "$(grep socket.other "$ced_log" | head -n 1)" 'socket_mode = 0660, and its mode is 0666.*systemctl edit ced.socket' \
	"settings about the socket that are not in force are in the log"
manager 224-wrong-sockets.py >"$work/said" 2>&1
ok $? "sockets that agents could not use"
report "$work/said"
unlike "$(<"$ced_log")" 'stop.runs_left|Sanitizer' "each stop was an orderly one"
done_testing
