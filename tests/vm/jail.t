#!/bin/bash
# Jails on a stock Debian 12: kernel 6.1, cgroup v2 delegated by systemd, AppArmor on.  What tries
# to get out of them and past their limits elsewhere tries it here, as root and as an ordinary user.
# CED_VM_ONLY: a pattern for the names of what is to run.
. "$(dirname "$0")/lib.sh"
vm_prepare
vm_add_build
vm_boot

# inside WHO NAME COMMAND: TAP of the guest, in the environment that ctest gives here.
inside() {
	local words="cd /opt/ced; export PATH=/opt/ced/bin:\$PATH CED_BUILD=/opt/ced CED_BIN=/opt/ced/bin"
	words+=" CED_LIBEXEC=/opt/ced/libexec/ced CED_SOURCE=/opt/ced/source; $3"
	[[ "$1: $2" =~ ${CED_VM_ONLY:-.} ]] || return 0
	[[ $1 == root ]] || words="su --login $1 --command $(printf %q "$words")"
	vm_tap "$1: $2" "$words" 1200
}

vm_run 'useradd --create-home --shell /bin/bash visitor'
ok $? "there is an ordinary user"
like "$(vm_run 'uname -r')" '^6\.1\.' "the kernel is Debian 12's"
is "$(vm_run 'cat /sys/module/apparmor/parameters/enabled; aa-status --enforced')" $'Y\n3' \
	"AppArmor is on, with what Debian enforces"
like "$(vm_run 'cat /sys/fs/cgroup/cgroup.controllers')" 'cpu .*memory .*pids' \
	"cgroup v2 has the controllers"

# The modules that speak with the kernel.
for name in $(basename -s .c "$CED_SOURCE"/sandbox/*.c) capture execution knobs listener lockdown loop worker; do
	[[ $name == cgroup || ! -x $CED_BUILD/tests/test_$name ]] ||
		inside root "unit.$name" "tests/test_$name"
done

# Cgroups by systemd's delegation, and what is said without it.
scope='--quiet --scope --collect --property=Delegate=yes --'
inside root "unit.cgroup" "systemd-run $scope tests/test_cgroup"
inside visitor "unit.cgroup" "systemd-run --user $scope tests/test_cgroup"
like "$(vm_run '/opt/ced/tests/test_cgroup')" 'SKIP.*Delegate=yes' "without a cgroup of its own it says what to do"

for who in root visitor; do
	for script in "$CED_SOURCE"/tests/jail/jail_*.t; do
		name=${script##*/jail_}
		inside $who "jail.${name%.t}" "bash source/tests/jail/jail_$name"
	done
done
for script in "$CED_SOURCE"/tests/scenario/05*.t; do
	name=${script##*/}
	case $name in
	*-service.t) continue ;; # vm.service goes further
	*-ordinary.t) who=(root) ;; # nobody, who has no cgroup
	*) who=(root visitor) ;;
	esac
	for one in "${who[@]}"; do
		inside "$one" "scenario.${name%.t}" "bash source/tests/scenario/$name"
	done
done

is "$(vm_run "find /sys/fs/cgroup -type d -name 'ced-*'")" "" "no cgroup is left"
is "$(vm_run 'journalctl -k -g "apparmor=.DENIED" --no-pager -q')" "" "AppArmor had nothing to refuse"
done_testing
