# Runs as root inside the guest of vm/spawner.t; what it says goes out by the second serial line.
# One line of TAP for each program or test; the programs' own lines become comments.

exec >/dev/ttyS1 2>&1
cd /opt/ced || exit 1
export CED_BUILD=/opt/ced CED_BIN=/opt/ced/bin CED_SOURCE=/opt/ced/source
count=0

# A command is a test: it passes when it ends well and says nothing of "not ok".
try() { # name, command...
	local name=$1
	shift
	count=$((count + 1))
	mv /tmp/out /tmp/last 2>/dev/null
	if "$@" >/tmp/out 2>&1 && ! grep -q '^not ok' /tmp/out; then
		grep '^# [a-z]' /tmp/out
		echo "ok $count - $name"
	else
		sed 's/^/# /' /tmp/out
		echo "not ok $count - $name"
	fi
}

scope=(systemd-run --quiet --scope --collect --property=Delegate=yes --)
nobody=(systemd-run --quiet --wait --pipe --property=User=nobody --property=Delegate=yes)

echo "# $(uname -r), controllers: $(cat /sys/fs/cgroup/cgroup.controllers)"
for name in caps child landlock mounts ns runtime seccomp spawner tiny_filter; do
	try "unit.$name" tests/test_$name
done
try "unit.cgroup in a scope" "${scope[@]}" tests/test_cgroup
try "unit.cgroup as a user with a delegated cgroup" "${nobody[@]}" /opt/ced/tests/test_cgroup
try "unit.cgroup where others live in the cgroup" "${scope[@]}" sh -c 'tests/test_cgroup; true'
try "there it says what to do" grep -q 'SKIP.*Delegate' /tmp/last
try "jail.spawner" timeout 900 bash jail_spawner.t

# The whole with a delegated cgroup of an ordinary user: limits without root.
mkdir -p /tmp/house/libexec /tmp/house/harness
cp tests/spawner_daemon /tmp/house/libexec/ced
cp tests/spawner_inspector /tmp/house/libexec/ced-inspector
cp source/tests/jail/probe/zygote.py /tmp/house/harness/
chmod -R a+rX /tmp/house
for name in hello_says_what_the_host_gives a_zygote_sees_nothing_of_the_host \
	a_slots_knobs_can_be_turned_and_read an_inspector_sees_nothing_and_has_no_right; do
	try "as a user: $name" "${nobody[@]}" --setenv=CED_TEST_HARNESS=/tmp/house/harness \
		-- /opt/ced/bin/ced-spawner --libexec /tmp/house/libexec -- "$name"
	sed -n 's/^# memory/# as a user: memory/p' /tmp/out
done

count=$((count + 1))
left=$(find /sys/fs/cgroup -type d -name 'ced-*')
if [ -z "$left" ]; then
	echo "ok $count - no cgroup is left"
else
	echo "# $left"
	echo "not ok $count - no cgroup is left"
fi
echo "1..$count"
sync
