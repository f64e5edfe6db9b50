#!/bin/bash
# Broken settings and broken hosts: each gets one clear message that says what is wrong and what to type.
# The tables below are the test.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

conf=$ced_folder/host.conf
mkdir -p "$work/files"
echo 'no JSON' >"$work/files/text"

# --- settings -------------------------------------------------------------------------------------

# broken MESSAGE LINE...: `cectl config check` finds this and nothing else, on the last line.
broken() {
	printf '%s\n' "${@:2}" >"$conf"
	exits 1 "settings: ${*: -1}" cectl config check --json "$conf"
	is "$(json "$out" '[[c.get("file"), c.get("line"), c["message"]] for c in it["complaints"]]')" \
		"$(/usr/bin/python3 -c 'import json, sys; print(json.dumps([[sys.argv[1], int(sys.argv[2]), sys.argv[3]]]))' \
			"$conf" "$(($# - 1))" "$1")" "says: $1"
}

broken 'there is no setting quue_max here; did you mean queue_max?' 'quue_max = 4'
broken 'there is no setting wall here; did you mean wall_ms?' 'limits {' 'wall = 2s }'
broken 'there is no section limit here; did you mean limits?' 'limit { }'
broken 'queue_max = 0 is outside 1 to 100000 (runs waiting for a worker, of all callers)' 'queue_max = 0'
broken 'wall_ms = 2h is outside 10ms to 1h (time from start to end)' 'limits { wall_ms = 2h }'
broken 'wait_ms = 4mb is invalid: write a time, such as 500ms, 10s, 5min, 1h or 2d' 'wait_ms = 4mb'
broken 'workers_max = many is invalid: write a number without a unit' 'workers_max = many'
broken 'queue_max is on line 1 already: remove one of them' 'queue_max = 7' 'queue_max = 8'
broken 'cgroups = "maybe": write "required" or "auto"' 'cgroups = "maybe"'
broken 'socket_mode = "999": write permission bits such as "0660"' 'socket_mode = "999"'
broken 'a list is in braces, not in brackets: write users = {a, b}' 'users = ["ann"]'
broken 'this text has no end: write " after it, on the same line' 'socket = "/run/x'
broken 'socket = "relative.sock" is not an absolute path: begin it with /' 'socket = "relative.sock"'
broken 'state = "relative" is not an absolute path: begin it with /' 'state = "relative"'
broken 'workers_min = 9 is above workers_max = 3: lower it, or raise workers_max' 'workers_max = 3' 'workers_min = 9'
broken 'input_bytes = 32mb is above message_bytes = 16mb: lower it, or raise message_bytes' 'input_bytes = 32mb'
broken 'require: there is no layer "moon" (there are memory, pids, cpu, cgroup_kill, landlock, uids)' 'require = {"moon"}'
broken 'admins: there is no user "nobody-here" on this host: add it, or correct the name' 'admins = {"nobody-here"}'
broken 'policy: there is no policy "stict"; did you mean strict?' 'policy = "stict"'
broken 'policies = "/nope": there is no such folder: make it, or correct the path' 'policies = "/nope"'
broken 'redactions = "/nope": there is no such file: make it, or correct the path' 'redactions = "/nope"'
broken 'checkpoint_file = "/nope/x": there is no folder /nope/: make it, or correct the path' 'checkpoint_file = "/nope/x"'
broken 'runtime ruby: interpreter = "/opt/nope/ruby" is not a program on this host: install it, correct the path, or write off = true' \
	'runtime ruby { interpreter = "/opt/nope/ruby" kind = "command" }'
broken 'runtime bash: binds: "/home" cannot be in a jail, because /home holds the users'"'"' files: name another folder or file' \
	'runtime bash { binds = {"/home"} }'
broken 'preload: "no-such-module" is not a module' 'runtime python { preload = {"no-such-module"} }'
# shellcheck disable=SC2016 # these are the words
broken 'packages data has no digest: write digest = what `cectl packages digest PATH` prints into it' \
	'packages data { runtime = "python" path = "/nope" }'
broken 'alert x: there is no language "pythno"; did you mean python?' 'alert x {' 'language = "pythno" }'
broken 'allow: "exa mple" is not the name of a host such as "api.example.org:443" or "*.example.org"' 'egress { allow = {"exa mple"} }'
broken 'egress.at_once = 500 is above egress.most_at_once = 64: lower it, or raise egress.most_at_once' 'egress { at_once = 500 }'
broken 'bytes that are no UTF-8: save the file as UTF-8' 'queue_max = 7' $'policy = "st\xe4ndard"'
broken 'for_uid 0 and for_uid root are the same user: write one section' \
	'for_uid 0 { limits { pids = 3 } }' 'for_uid root { limits { pids = 4 } }'

printf '%s\n' 'queue_max = 7' 'policies = "/nope"' 'redactions = "/nope"' \
	'runtime ruby { interpreter = "/opt/nope" kind = "command" }' >"$conf"
exits 1 "settings: several mistakes of a later check" cectl config check --json "$conf"
is "$(json "$out" '[c["line"] for c in it["complaints"]]')" '[3, 2, 4]' "are all found"
printf '%s\n' 'queue_max = 7' >"$conf"
: >"$conf.d"
exits 1 "settings: a file in the place of the folder with more files" cectl config check "$conf"
like "$out$err" "$conf.d: this is no folder: rename it" "says so"
rm "$conf.d" && mkdir "$conf.d"
for file in one two; do
	for ((number = 0; number < 6000; number++)); do echo "for_uid $number { }"; done >"$conf.d/$file.conf"
done
exits 1 "settings: more than anybody can have" cectl config check "$conf"
like "$out$err" "$conf.d/two.conf: with this file there are more than 10000 settings and sections" "are refused at once"
rm -r "$conf.d"
{ echo 'require = {'; yes '"pids",' | head -n 25000; echo '"cpu"}'; } >"$conf"
exits 0 "settings: 25,000 quoted words are read" cectl config check "$conf"

# --- hosts ----------------------------------------------------------------------------------------

[[ $(id -u) == 0 ]] || { diag "broken hosts are tried by root only"; done_testing; }
programs=$(ced_programs)
account=$(ced_account)
uid=$(id -u "$account") gid=$(id -g "$account")

# refuses NAME MESSAGE ARGUMENT...: ced-spawner with these arguments ends with 1 and exactly one error, which
# has this text.  With a `cd`-like prefix in `under`, by that.
under=()
refuses() {
	timeout 120 "${under[@]}" "$programs/bin/ced-spawner" "${@:3}" >"$work/log" 2>&1 </dev/null
	is $? 1 "$1: it does not start"
	is "$(grep -c '^<3>' "$work/log")" 1 "with one message"
	[[ $(grep '^<3>' "$work/log") == *"$2"* ]]
	ok $? "which says: $2"
	[[ $(grep '^<3>' "$work/log") == *"$2"* ]] || diag "$(cat "$work/log")"
}
ours=(--libexec "$programs/libexec/ced" --)
echo 'cgroups = "auto"' >"$conf"
here_too=(--config "$conf" --socket "$CED_SOCKET" --state "$ced_state")

printf '%s\n' 'cgroups = "auto"' 'runtime python { interpreter = "/opt/nope/python3" }' >"$work/no-python.conf"
chmod 644 "$work/no-python.conf"
refuses "an interpreter that is missing" '"runtime python: interpreter: /opt/nope/python3: No such file or directory: correct its section, or write off = true in it' \
	"${ours[@]}" --config "$work/no-python.conf" --socket "$CED_SOCKET" --state "$ced_state"
refuses "a file of settings that is missing" "/nope.conf: file does not exist: correct the path" \
	"${ours[@]}" --config /nope.conf
echo 'cgroups = "auto"' >"$work/unreadable.conf"
chmod 600 "$work/unreadable.conf"
refuses "a file of settings that only root reads" "unreadable.conf: open: Permission denied: let uid $uid read it" \
	"${ours[@]}" --config "$work/unreadable.conf"
long=/run/$(printf 'x%.0s' {1..120})
refuses "a socket path that is too long" "the path is too long: it may have at most 107 bytes: name a shorter one" \
	"${ours[@]}" --config "$conf" --socket "$long" --state "$ced_state"
refuses "a socket in a folder that is missing" "uid $uid cannot make the socket /nope/ced.sock: No such file or directory: type install -d -o $uid -g $gid /nope" \
	"${ours[@]}" --config "$conf" --socket /nope/ced.sock --state "$ced_state"
mkdir -m 755 "$work/of-root"
refuses "a socket in a folder of somebody else" "cannot make the socket $work/of-root/ced.sock: Permission denied: its folder belongs to others: type install -d -o $uid -g $gid $work/of-root/ced, and name $work/of-root/ced/ced.sock" \
	"${ours[@]}" --config "$conf" --socket "$work/of-root/ced.sock" --state "$ced_state"
touch "$ced_folder/run/file"
refuses "a file where the socket should be" "socket $ced_folder/run/file: a file that is no socket is in its place: remove it, or name another path" \
	"${ours[@]}" --config "$conf" --socket "$ced_folder/run/file" --state "$ced_state"
mkdir -m 700 "$work/roots-state"
install -d -m 700 -o "$uid" -g "$gid" "$work/restored-state"
for file in ced.db audit.key; do
	install -m 600 /dev/null "$work/restored-state/$file"
	refuses "a file of the store that root has restored: $file" \
		"/$file: Permission denied: it belongs to uid 0, and the daemon is uid $uid: type chown $uid:$gid $work/restored-state/$file" \
		"${ours[@]}" --config "$conf" --socket "$CED_SOCKET" --state "$work/restored-state"
	rm -rf "${work:?}/restored-state/"*
done
refuses "a state folder of somebody else" "the store: $work/roots-state belongs to uid 0, and the daemon is uid $uid: type chown -R $uid:$gid $work/roots-state" \
	"${ours[@]}" --config "$conf" --socket "$CED_SOCKET" --state "$work/roots-state"
refuses "a state folder that is missing" "the store: there is no folder $work/none: type install -d -m 700 -o $uid -g $gid $work/none" \
	"${ours[@]}" --config "$conf" --socket "$CED_SOCKET" --state "$work/none"
refuses "a state folder that is a file" "the store: $work/files/text is no folder: name another one" \
	"${ours[@]}" --config "$conf" --socket "$CED_SOCKET" --state "$work/files/text"
refuses "a user that is missing" 'there is no user nobody-here: use --user NAME' \
	--user nobody-here "${ours[@]}" "${here_too[@]}"
refuses "root as the daemon's user" 'ced must not run as root: use --user NAME' --user root "${ours[@]}" "${here_too[@]}"
refuses "programs that are missing" 'no programs of ced (--libexec) in /nope: No such file or directory' --libexec /nope -- "${here_too[@]}"
under=(prlimit --nofile=64:64)
refuses "too few open files" 'open files for so many workers' "${ours[@]}" "${here_too[@]}"
under=()

daemon_start
install -d -m 700 -o "$account" "$work/second"
refuses "a second daemon at one socket" "socket $CED_SOCKET: another daemon answers at this path: stop it first, or name another path" \
	"${ours[@]}" --config "$conf" --socket "$CED_SOCKET" --state "$work/second"
refuses "a second daemon on one store" "the store: another ced writes to $ced_state: stop it first, or name another folder" \
	"${ours[@]}" --config "$conf" --socket "$ced_folder/run/second.sock" --state "$ced_state"
is "$(cectl run -c 'print("still")')" still "which harms nothing"
daemon_stop

mkdir -m 700 "$work/small"
if mount -t tmpfs -o size=10m,mode=700 tmpfs "$work/small" 2>/dev/null; then
	chown "$account": "$work/small"
	refuses "a disk without room for a store" "10.0 MiB are free in $work/small and a new store needs 13.0 MiB: make room, or name another folder (the setting state)" \
		"${ours[@]}" --config "$conf" --socket "$CED_SOCKET" --state "$work/small"
	mount -o remount,ro "$work/small"
	refuses "a disk that cannot be written to" "the store: $work/small/ced.lock: Read-only file system" \
		"${ours[@]}" --config "$conf" --socket "$CED_SOCKET" --state "$work/small"
	umount "$work/small"
fi
done_testing
