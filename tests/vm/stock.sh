# Sourced by what tries jails on a stock Debian 12 or 13: its kernel, cgroup v2 delegated by systemd,
# AppArmor on.  What tries to get out of them and past their limits elsewhere tries it here, as root
# and as an ordinary user.
#
#   . "$(dirname "$0")/stock.sh"   the guest is up when it returns
#   inside WHO NAME COMMAND        TAP of the guest, in the environment that ctest gives here
#   scenarios NAME...              each as root, and as an ordinary user where it is not about one
#   stock_done                     what must be true in the end
#
# CED_VM_ONLY: a pattern for the names of what is to run.
# shellcheck shell=bash
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"

inside() {
	local words="cd /opt/ced; export PATH=/opt/ced/bin:\$PATH CED_BUILD=/opt/ced CED_BIN=/opt/ced/bin"
	words+=" CED_LIBEXEC=/opt/ced/libexec/ced CED_SOURCE=/opt/ced/source; $3"
	[[ "$1: $2" =~ ${CED_VM_ONLY:-.} ]] || return 0
	[[ $1 == root ]] || words="su --login $1 --command $(printf %q "$words")"
	vm_tap "$1: $2" "$words" 1200
}

scenarios() {
	local name one who
	for name; do
		who=(root visitor)
		[[ $name != *-ordinary ]] || who=(root) # nobody, who has no cgroup
		for one in "${who[@]}"; do
			inside "$one" "scenario.$name" "bash source/tests/scenario/$name.t"
		done
	done
}

stock_done() {
	is "$(vm_run "find /sys/fs/cgroup -type d -name 'ced-*'")" "" "no cgroup is left"
	is "$(vm_run 'journalctl -k -g "apparmor=.DENIED" --no-pager -q')" "" \
		"AppArmor had nothing to refuse"
	done_testing
}

vm_prepare
vm_add_build
vm_boot
vm_run 'useradd --create-home --shell /bin/bash visitor'
ok $? "there is an ordinary user"
kernel='^6\.1\.'
[[ $vm_suite == bookworm ]] || kernel='^6\.12\.'
like "$(vm_run 'uname -r')" "$kernel" "the kernel is that of Debian $vm_suite"
like "$(vm_run 'cat /sys/module/apparmor/parameters/enabled; aa-status --enforced')" $'^Y\n[1-9]' \
	"AppArmor is on, with what Debian enforces"
like "$(vm_run 'cat /sys/fs/cgroup/cgroup.controllers')" 'cpu .*memory .*pids' \
	"cgroup v2 has the controllers"
