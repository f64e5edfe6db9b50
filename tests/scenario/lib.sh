# Sourced by every scenario: a private daemon, and TAP.
#
#   . "$(dirname "$0")/lib.sh"
#   daemon_start
#   output=$(cectl run -c 'print(42)')
#   is "$output" 42 "a program's output is passed through"
#   done_testing
#
# $work is an empty folder of the scenario's own.  Everything that daemon_start started is stopped
# by its pid when the script leaves, whichever way.
# shellcheck shell=bash
set -u
exec </dev/null # whatever runs the tests may leave a pipe open there, which cectl would read
export LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR COLUMNS XDG_RUNTIME_DIR

ced_count=0
ced_failed=0
ced_spawner=
ced_folder=$(mktemp -d "${TMPDIR:-/tmp}/ced-scenario.XXXXXX")
work=$ced_folder/work
export CED_SOCKET=$ced_folder/run/ced.sock
ced_state=$ced_folder/state
ced_log=$ced_folder/log

# --- the daemon --------------------------------------------------------------------------------

# The account that ced becomes when root starts it.
ced_account() {
	if id -u ced >/dev/null 2>&1; then
		echo ced
	else
		echo nobody
	fi
}

# ced_reachable FOLDER: whether the account that ced becomes can use what lies there.
ced_reachable() {
	[[ $(id -u) != 0 ]] || setpriv --reuid "$(id -u "$(ced_account)")" \
		--regid "$(id -g "$(ced_account)")" --clear-groups test -r "$1" -a -x "$1"
}

# The folder with bin/ and libexec/: the build, or a copy where root's checkout is closed to others.
ced_programs() {
	local build
	build=$(dirname "$(dirname "$(command -v ced-spawner)")")
	if ! ced_reachable "$build/libexec/ced/ced"; then
		if mkdir -m 755 "$ced_folder/programs" 2>/dev/null; then
			cp -r "$build/bin" "$build/libexec" "$ced_folder/programs/"
			chmod -R a+rX "$ced_folder/programs"
		fi
		build=$ced_folder/programs
	fi
	echo "$build"
}

# With cgroup v2 the spawner wants a cgroup where it is alone; systemd gives one.
ced_own=()
if [[ -d /run/systemd/system ]]; then
	ced_own=(env "XDG_RUNTIME_DIR=/run/user/$(id -u)" systemd-run --user)
	[[ $(id -u) != 0 ]] || ced_own=(systemd-run)
	ced_own+=(--quiet --scope --collect --property=Delegate=yes --)
	"${ced_own[@]}" true 2>/dev/null || ced_own=()
fi

# Starts a spawner and waits until ced says that it is ready and warm workers of every runtime are
# there, but for one called misfit.  What stands in ced_arguments is for ced.  Root must be given cgroups; an ordinary user gets what there is.
# only LANGUAGE...: the others start no workers, which take most of the cpu time of a start.  The daemon
# then has a copy of its settings: a scenario that changes and reloads them does without.
ced_arguments=()
if [[ $(id -u) != 0 ]]; then
	echo 'cgroups = "auto"' >"$ced_folder/ced.conf"
	ced_arguments=(--config "$ced_folder/ced.conf")
fi
ced_only=
only() {
	ced_only=" $* "
}

# Sets `arguments` to ced_arguments, with the settings that switch off what only() leaves out.
ced_choose() {
	local language
	arguments=("${ced_arguments[@]}")
	[[ -n $ced_only ]] || return 0
	: >"$ced_folder/only.conf"
	if [[ ${arguments[0]:-} == --config ]]; then
		cat "${arguments[1]}" >"$ced_folder/only.conf"
		arguments=("${arguments[@]:2}")
	fi
	for language in python bash javascript; do
		[[ $ced_only == *" $language "* ]] || echo "runtime $language { off = true }"
	done >>"$ced_folder/only.conf"
	chmod 644 "$ced_folder/only.conf"
	arguments=(--config "$ced_folder/only.conf" "${arguments[@]}")
}

daemon_start() {
	local tries programs arguments
	programs=$(ced_programs)
	ced_choose
	: >"$ced_log"
	"${ced_own[@]}" "$programs/bin/ced-spawner" --libexec "$programs/libexec/ced" -- --socket "$CED_SOCKET" \
		--state "$ced_state" "${arguments[@]}" >>"$ced_log" 2>&1 </dev/null &
	ced_spawner=$!
	for ((tries = 0; tries < 1200; tries++)); do
		daemon_is_ready && return 0
		kill -0 "$ced_spawner" 2>/dev/null || break
		sleep 0.1
	done
	bail "the daemon did not come up"
}

daemon_is_ready() {
	local told row rows
	[[ $(<"$ced_log") == *' ready version='* ]] || return 1
	told=$(timeout 10 cectl runtimes --json 2>/dev/null) || return 1
	mapfile -t rows <<<"${told//'{"name":'/$'\n'}"
	for row in "${rows[@]}"; do
		[[ $row == '"misfit"'* || $row != *'"warm":0'* ]] || return 1
	done
	[[ $told == *'"warm":'* ]]
}

# Stops it as systemd would, or as a catastrophe would, and waits until it is gone.
daemon_stop() {
	[[ -n $ced_spawner ]] || return 0
	kill "$ced_spawner" 2>/dev/null
	wait "$ced_spawner" 2>/dev/null
	ced_spawner=
}

daemon_kill() {
	[[ -n $ced_spawner ]] || return 0
	# ced first, its oldest child: it would see the spawner go, and still write what becomes of runs.
	kill -KILL "$(pgrep -o -P "$ced_spawner")" "$ced_spawner" 2>/dev/null
	wait "$ced_spawner" 2>/dev/null
	ced_spawner=
}

# waiting_as PATH: how many processes of this daemon were started as PATH, without a program.  A zygote has
# the same words, and the name ced-zygote.
waiting_as() {
	/usr/bin/python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
import wire
name = sys.argv[3].rsplit("/", 1)[1][:15]
print(sum(wire.command(pid) == sys.argv[3] and wire.name(pid) == name for pid in wire.children(int(sys.argv[2]))))' \
		"$(dirname "${BASH_SOURCE[0]}")" "$ced_spawner" "$1"
}

# The cpu time of everything that the scenario started and that has ended.
ced_cpu_s() {
	local stat
	stat=$(</proc/$$/stat)
	# shellcheck disable=SC2086 # fields
	set -- ${stat##*) }
	echo "$(((${14} + ${15}) / $(getconf CLK_TCK)))"
}

ced_leave() {
	local status=$?
	daemon_stop
	rm -rf "$ced_folder"
	diag "cpu: $(ced_cpu_s) s"
	exit "$status"
}
trap ced_leave EXIT
trap 'exit 1' INT TERM HUP

# --- TAP ---------------------------------------------------------------------------------------

# ok STATUS NAME: 0 is good.
ok() {
	ced_count=$((ced_count + 1))
	if [[ $1 == 0 ]]; then
		echo "ok $ced_count - $2"
	else
		echo "not ok $ced_count - $2"
		ced_failed=$((ced_failed + 1))
	fi
}

# is FOUND HOPED NAME
is() {
	[[ $1 == "$2" ]]
	ok $? "$3"
	if [[ $1 != "$2" ]]; then
		diag "found: $1"
		diag "hoped: $2"
	fi
}

# like FOUND REGEX NAME
like() {
	[[ $1 =~ $2 ]]
	ok $? "$3"
	if ! [[ $1 =~ $2 ]]; then
		diag "found:   $1"
		diag "pattern: $2"
	fi
}

# unlike FOUND REGEX NAME
unlike() {
	! [[ $1 =~ $2 ]]
	ok $? "$3"
	if [[ $1 =~ $2 ]]; then
		diag "found: $1"
	fi
}

# exits STATUS NAME COMMAND...: what it prints is kept in $out and $err.
exits() {
	local hoped=$1 name=$2 status
	shift 2
	"$@" >"$ced_folder/out" 2>"$ced_folder/err" </dev/null
	status=$?
	out=$(tr -d '\0' <"$ced_folder/out")
	err=$(tr -d '\0' <"$ced_folder/err")
	[[ $status == "$hoped" ]]
	ok $? "$name"
	if [[ $status != "$hoped" ]]; then
		diag "exit status $status, hoped for $hoped: $*"
		diag "stdout: $out"
		diag "stderr: $err"
	fi
}

# json FILE-OR-TEXT EXPRESSION: a Python expression over `it`, the document.
json() {
	printf '%s' "$1" | /usr/bin/python3 -c '
import json, sys
it = json.load(sys.stdin)
result = eval(sys.argv[1])
print(json.dumps(result) if isinstance(result, (dict, list, bool)) else result)' "$2" 2>&1
}

diag() {
	local line
	while IFS= read -r line; do
		echo "# $line"
	done <<<"$1"
}

# What a test program has written to the file $1; what passed comes last, since the summary of a long run shows only the beginning.
report() {
	sed -n '/^ok /!s/^/# /p' "$1"
	sed -n 's/^ok /# ok /p' "$1"
}

bail() {
	diag "$1"
	[[ -s $ced_log ]] && diag "$(tail -n 20 "$ced_log")"
	echo "not ok $((ced_count + 1)) - $1"
	exit 1
}

# skip_all REASON: ends a scenario that cannot run here.
skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

done_testing() {
	echo "1..$ced_count"
	if [[ $ced_failed != 0 && -s $ced_log ]]; then
		diag "the daemon said:"
		diag "$(tail -n 20 "$ced_log")"
	fi
	exit $((ced_failed > 0))
}

mkdir -m 755 "$work" "$ced_folder/run"
mkdir -m 700 "$ced_state"
chmod 755 "$ced_folder"
if [[ $(id -u) == 0 ]]; then
	chown "$(ced_account)": "$ced_folder/run" "$ced_state"
fi
cd "$work" || exit 1
