#!/bin/bash
# What a client sees of a daemon that lets nobody in, and cectl of one that hangs.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
[[ $(id -u) == 0 ]] || skip_all "only root can be several users"
printf 'socket_mode = "0666"\nconnections_per_uid = 2\n' >"$work/ced.conf"
ced_arguments=(--config "$work/ced.conf")
daemon_start
ced=$(pgrep -o -P "$ced_spawner")
PATH=$(ced_programs)/bin:$PATH # the checkout may be closed to others

/usr/bin/python3 "$here/016-no-answer.py" "$ced" >"$work/told" 2>&1
ok $? "who is over the limit of connections hears it"
report "$work/told"

kill -STOP "$ced"
began=$SECONDS
exits 125 "wait -t ends although the daemon hangs" timeout 60 cectl wait last -t 1s
ok "$((SECONDS - began > 12))" "soon after its time"
like "$err" 'the daemon hangs or is stopped' "and says what is the matter"
exits 125 "so does any other command" timeout 60 cectl run -c 1
like "$err" 'hangs or is stopped.*within 15 s' "after a while"
timeout 300 cectl doctor >"$work/out" 2>&1
is $? 1 "doctor finds a daemon that hangs"
like "$(<"$work/out")" 'it is there and hangs' "and says so"
kill -CONT "$ced"
exits 0 "and all is well when it goes on" cectl run -c 1
done_testing
