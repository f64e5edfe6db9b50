#!/bin/bash
# Programs of ours whose stdin, stdout or stderr the caller has closed: nothing that they open may
# get one of these numbers, or what a jailed program prints would go to the daemon as a request.
. "$(dirname "$0")/lib.sh"
only python bash

daemon_start
libexec=$(ced_programs)/libexec/ced

# A request of MessagePack-RPC: [0, 77, "admin.drain", [{}]].
# shellcheck disable=SC2016 # printf of the jailed shell reads it
drain='printf "\x94\x00\x4d\xabadmin.drain\x91\x80"'

drains() {
	cectl acts --json | grep -c '"admin.drain"\|"drain"'
}

bash -c 'exec cectl run -l bash -c "$1" >&-' - "$drain" 2>"$work/err"
is $? 125 "a run whose output cannot be written ends with 125"
like "$(<"$work/err")" 'cannot write the answer: Bad file descriptor' "and says why"
bash -c 'exec cectl run -l bash -c "$1 >&2" 2>&-' - "$drain" >/dev/null
bash -c 'exec cectl run --stream -l bash -c "$1" >&-' - "$drain" 2>/dev/null
bash -c 'exec cectl run --stream -l bash -c "$1 >&2" 2>&-' - "$drain" >/dev/null
bash -c 'exec cectl run -l bash -c "$1; $1 >&2" <&- >&- 2>&-' - "$drain"
id=$(cectl run --detach -l bash -c "$drain")
bash -c 'exec cectl wait "$1" >&-' - "$id" 2>/dev/null
is $? 125 "so does wait"
bash -c 'exec cectl output "$1" --raw >&-' - "$id" 2>/dev/null
is $? 125 "and output"
is "$(drains)" 0 "nothing that a program prints becomes a request of its caller"
exits 0 "and the daemon still takes runs" cectl run -c 'print(1)'

for words in runs --help "status --json" "help run"; do
	bash -c "exec cectl $words >&-" 2>"$work/err"
	is $? 125 "cectl $words ends with 125 when stdout is closed"
	like "$(<"$work/err")" 'cannot write the answer' "and says why"
done
bash -c 'exec cectl run -c "print(2)" <&- 2>&-' >"$work/out"
is "$? $(<"$work/out")" "0 2" "stdout arrives when only stdin and stderr are closed"
bash -c 'exec "$1" --settings >&-' - "$libexec/ced" 2>/dev/null
is $? 1 "ced that cannot print its answer fails"
bash -c 'exec "$1" >&-' - "$libexec/ced-probe" 2>/dev/null
is $? 1 "so does ced-probe"
daemon_stop

# held PID: what its three streams are.
held() {
	readlink "/proc/$1/fd/0" "/proc/$1/fd/1" "/proc/$1/fd/2" | paste -sd' '
}
nowhere="/dev/null /dev/null /dev/null"

bash -c 'exec "$1" --libexec "$2" -- --socket "$3" --state "$4" "${@:5}" <&- >&- 2>&-' - \
	"$(ced_programs)/bin/ced-spawner" "$libexec" "$CED_SOCKET" "$ced_state" "${ced_arguments[@]}" &
ced_spawner=$!
for ((tries = 0; tries < 1200; tries++)); do
	[[ $(cectl run -c 'print(3)' 2>/dev/null) == 3 ]] && break
	sleep 0.1
done
is "$(cectl run -c 'print(3)')" 3 "a daemon that is started with closed streams runs programs"
is "$(held "$ced_spawner")" "$nowhere" "the spawner holds them"
is "$(held "$(pgrep -o -P "$ced_spawner")")" "$nowhere" "ced holds them"

bash -c 'exec "$1" --alerts --socket "$2" "${@:3}" <&- >&- 2>&-' - \
	"$libexec/ced" "$CED_SOCKET" "${ced_arguments[@]}" &
alerts=$!
for ((tries = 0; tries < 1200; tries++)); do
	[[ $(readlink "/proc/$alerts/exe") == */ced && $(held "$alerts") == "$nowhere" ]] && break
	sleep 0.1
done
is "$(held "$alerts")" "$nowhere" "ced-alerts holds them"
kill "$alerts"
wait "$alerts" 2>/dev/null
done_testing
