#!/bin/bash
# cectl doctor on a stock Debian 12: cgroup v2 under systemd, and switches that only a kernel of
# Debian's has.  What it says is held against what ced-spawner then does at the same place.
. "$(dirname "$0")/lib.sh"
vm_prepare
vm_install /usr/local
vm_boot
vm_run 'useradd --create-home --shell /bin/bash visitor; systemd-sysusers; systemctl daemon-reload'
vm_run "echo 'cgroups = \"auto\"' >/tmp/auto.conf"
# A busy host makes the emulator slow: programs are read from the disk once before they are timed, and a
# service may take long to start.
vm_run 'cectl doctor >/dev/null 2>&1
	mkdir -p /etc/systemd/system/ced.service.d
	printf "[Service]\nTimeoutStartSec=900\n" >/etc/systemd/system/ced.service.d/slow.conf
	systemctl daemon-reload'

# doctor WHERE: asks the guest; the document is in $out, the exit status in $status.
doctor() {
	out=$(vm_run "$1 2>/dev/null")
	status=$?
}
state() {
	json "$out" "[c['state'] for c in it['checks'] if c['name'] == '$1'][0]"
}
repair() {
	json "$out" "[c['repair'] for c in it['checks'] if c['name'] == '$1'][0]"
}
found() {
	json "$out" "[c['found'] for c in it['checks'] if c['name'] == '$1'][0]"
}
missing() {
	json "$out" "[c['name'] for c in it['checks'] if c['state'] == 'missing']"
}
visitor() {
	echo "su --login visitor --command $(printf %q "$1")"
}

scope='--quiet --scope --collect --property=Delegate=yes --'
doctor "systemd-run $scope cectl doctor --json"
is "$status $(missing)" "0 []" "root, in a cgroup of its own: nothing is missing"
is "$(state memory) $(state pids) $(state cpu) $(state cgroup.kill)" "good good good good" \
	"v2's controllers hold and count, and its kill kills"
like "$(found memory)" '^v2: ' "and they are v2's"
like "$(found AppArmor)" '^active' "AppArmor is seen"
like "$(found version)" 'Linux 6\.1\.' "and the kernel"

doctor "cectl doctor --json"
is "$status $(missing)" '1 ["memory", "pids", "cpu"]' "root, in a cgroup with others: what cannot be handed down"
like "$(repair memory)" 'systemctl start ced .*systemd-run --scope -p Delegate=yes' "with the repair"
is "$(vm_run 'ced-spawner -- --socket /run/x.sock --state /tmp >/tmp/log 2>&1; echo $?; grep -c "ced layer.missing .*repair=" /tmp/log' | paste -sd' ')" \
	"1 4" "and a daemon that is started there says the same"

doctor "$(visitor "systemd-run --user $scope cectl doctor --json")"
is "$status $(missing)" "0 []" "a user, in a cgroup of their own: nothing is missing"
# again WORDS: what managers of users are given, from their next start on.
again() {
	vm_run "$1; systemctl daemon-reload; systemctl stop user@\$(id -u visitor)" >/dev/null
}
again 'mkdir -p /etc/systemd/system/user@.service.d; printf "[Service]\nDelegate=\nDelegate=memory pids\n" >/etc/systemd/system/user@.service.d/a.conf'
doctor "$(visitor "systemd-run --user $scope cectl doctor --json")"
is "$status $(missing)" '1 ["cpu"]' "where users are not given the cpu it says so"
like "$(repair cpu)" 'Delegate=cpu memory pids' "with the repair"
again "$(repair cpu | sed 's/^as root: //; s/, then log in again$//')"
doctor "$(visitor "systemd-run --user $scope cectl doctor --json")"
is "$status $(missing)" "0 []" "which repairs it"

doctor "$(visitor "cectl doctor --json --config /tmp/auto.conf")"
is "$status $(state memory)" "0 weaker" "a user's shell, who does without: it is only weaker"

vm_run 'sysctl -qw kernel.unprivileged_userns_clone=0'
doctor "$(visitor "cectl doctor --json --config /tmp/auto.conf")"
is "$status $(state namespaces) $(state maps)" "1 missing untried" "where Debian's switch refuses namespaces it says so"
vm_run "$(repair namespaces)" >/dev/null
is "$(vm_run 'sysctl -n kernel.unprivileged_userns_clone')" 1 "and its repair lets them in"
vm_run 'sysctl -qw user.max_user_namespaces=0'
doctor "$(visitor "cectl doctor --json --config /tmp/auto.conf")"
is "$status $(state namespaces)" "1 missing" "so it is with a quota of none"
vm_run "$(repair namespaces)" >/dev/null
doctor "$(visitor "cectl doctor --json --config /tmp/auto.conf")"
is "$status $(state namespaces)" "0 good" "and its repair"

vm_run 'systemctl start ced'
doctor "cectl doctor --json"
is "$status $(state memory) $(json "$out" 'it["daemon"]["memory"]')" "0 note cgroup2" \
	"a service that runs has what the shell that asks has not"
is "$(vm_run "find /sys/fs/cgroup -type d -name 'ced-doctor-*'")" "" "no cgroup is left"
is "$(vm_run 'cat /sys/fs/cgroup/system.slice/agent.service/cgroup.subtree_control')" "" "nor what was handed down"
done_testing
