#!/bin/bash
# The modules that speak with the kernel, and zygotes, workers and inspectors alone, on a stock Debian.
. "$(dirname "$0")/stock.sh"

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
stock_done
