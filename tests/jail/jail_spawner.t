# One spawner for each test of spawner_daemon.c, as root and as an ordinary user, TAP.
#
# The program stands where ced stands.  A test whose name begins with "broken" breaks the
# conversation: there the spawner must kill it and leave with status 1.

set -u
daemon=$CED_BUILD/tests/spawner_daemon
inspector=$CED_BUILD/tests/spawner_inspector
count=0
failed=0

for file in "$daemon" "$inspector" "$CED_BIN/ced-spawner"; do
	[ -x "$file" ] || { echo "1..0 # SKIP $file is not built"; exit 77; }
done

# Readable for every user of the machine, wherever the checkout lies.
dir=$(mktemp -d /tmp/ced-jail.XXXXXX)
trap 'rm -rf "$dir"; [ "$(id -u)" -ne 0 ] || rm -f /tmp/ced-canary' EXIT
chmod 755 "$dir"
mkdir "$dir/libexec" "$dir/harness"
cp "$daemon" "$dir/libexec/ced"
cp "$inspector" "$dir/libexec/ced-inspector"
cp "$CED_BIN/ced-spawner" "$dir/"
cp "$CED_SOURCE/tests/jail/probe/zygote.py" "$dir/harness/"
chmod -R a+rX "$dir"
export CED_TEST_HARNESS=$dir/harness
echo canary >/tmp/ced-canary 2>/dev/null

say() { # ok? words
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
	else
		failed=1
		echo "not ok $count - $2"
	fi
}

# Control groups of runs that were killed; one of them may have the number of a later process.
stale=$(find /sys/fs/cgroup -maxdepth 6 -type d -name 'ced-[0-9]*' 2>/dev/null || true)

# Everything of a spawner that is still there: processes, cgroups.
left_of() { # pid
	find /sys/fs/cgroup -maxdepth 6 -type d -name "ced-$1" 2>/dev/null | grep -vxF "${stale:-none}"
	ps -o pid=,args= --ppid "$1" 2>/dev/null
}

# Starts a spawner in the background, as who the mode says and with the umask of our service unit.
# setpriv becomes it, so $! is its pid.
start_spawner() { # test name
	(umask 077; exec "${as[@]}" "$dir/ced-spawner" --libexec "$dir/libexec" -- "$1") >"$dir/out" 2>&1 &
	pid=$!
}

run_test() { # mode, name
	local wanted=0 status pid
	case $2 in broken*) wanted=1 ;; esac
	start_spawner "$2"
	wait "$pid"
	status=$?
	grep '^#' "$dir/out"
	# A daemon that outlives its mistake ends with 1 too, and says what does not hold.
	if [ $status -ne $wanted ] || grep -q 'does not hold' "$dir/out"; then
		echo "# status $status, hoped for $wanted"
		sed 's/^/# /' "$dir/out"
		say 1 "$1: $2"
	elif [ -n "$(left_of "$pid")" ]; then
		left_of "$pid" | sed 's/^/# left: /'
		say 1 "$1: $2"
	else
		say 0 "$1: $2"
	fi
}

# Waits until the test says so; then its spawner, daemon and zygote are up.
start_waiting() {
	start_spawner waits_with_a_jail
	for _ in $(seq 100); do
		grep -q '^# waiting' "$dir/out" && return
		sleep 0.1
	done
	sed 's/^/# /' "$dir/out"
}

# All processes that descend from a spawner, itself included.
family() {
	local pid=$1 child
	echo "$pid"
	for child in $(ps -o pid= --ppid "$pid"); do
		family "$child"
	done
}

alive() {
	local pid
	for pid in "$@"; do
		case $(ps -o stat= -p "$pid") in '' | Z*) ;; *) echo "$pid" ;; esac
	done
}

gone_soon() {
	for _ in $(seq 100); do
		[ -z "$(alive "$@")" ] && return 0
		sleep 0.05
	done
	ps -o pid,ppid,stat,args -p "$(alive "$@" | paste -sd,)" | sed 's/^/# /'
	return 1
}

run_signals() { # mode
	local members=() daemon_pid status pid dead
	start_waiting
	for _ in $(seq 100); do
		mapfile -t members < <(family "$pid")
		[ ${#members[@]} -ge 4 ] && break
		sleep 0.05
	done
	[ ${#members[@]} -ge 4 ]
	say $? "$1: spawner, daemon, zygote and its child are up"
	kill -TERM "$pid"
	wait "$pid"
	status=$?
	[ $status -eq 0 ] && gone_soon "${members[@]}"
	say $? "$1: SIGTERM is passed on, and the spawner leaves with the daemon's status"
	[ -z "$(left_of "$pid")" ]
	say $? "$1: nothing is left after SIGTERM"

	start_waiting
	mapfile -t members < <(family "$pid")
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	gone_soon "${members[@]}"
	say $? "$1: a killed spawner takes everybody along"
	dead=$pid
	run_test "$1" hello_says_what_the_host_gives
	[ -z "$(find /sys/fs/cgroup -maxdepth 6 -type d -name "ced-$dead")" ]
	say $? "$1: the next spawner clears the cgroups of a killed one"

	start_waiting
	mapfile -t members < <(family "$pid")
	daemon_pid=$(ps -o pid=,comm= --ppid "$pid" | awk '$2 == "ced" { print $1 }')
	kill -KILL "$daemon_pid"
	wait "$pid"
	status=$?
	[ $status -eq 137 ] && gone_soon "${members[@]}"
	say $? "$1: a killed daemon takes the jails along and the spawner says how it died"
	[ -z "$(left_of "$pid")" ]
	say $? "$1: nothing is left after the daemon's death"
}

run_mode() { # mode
	local name
	for name in $("$daemon" --list | grep -v '^waits'); do
		run_test "$1" "$name"
	done
	run_signals "$1"
}

# With cgroup v2 a spawner needs a cgroup where it is alone; systemd gives one.
own=(systemd-run --quiet --scope --collect --property=Delegate=yes --)
[ "$(id -u)" -eq 0 ] || own=(systemd-run --user "${own[@]:1}")
[ -d /run/systemd/system ] && "${own[@]}" true 2>/dev/null || own=()

if [ "$(id -u)" -eq 0 ]; then
	as=("${own[@]}" setpriv --no-new-privs)
	run_mode root
	as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	run_mode user
else
	as=("${own[@]}" setpriv --no-new-privs)
	run_mode user
fi
echo "1..$count"
exit $failed
