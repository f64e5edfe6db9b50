#!/bin/bash
# What `cmake --install` puts where, and the rights that the unit gives: enough, and none too many.
. "$(dirname "$0")/lib.sh"
build=$(dirname "$(dirname "$(command -v ced-spawner)")")

installed=(cmake --install "$build")

# --- for a package -----------------------------------------------------------------------------

DESTDIR=$work/stage exits 0 "it is installed below DESTDIR" "${installed[@]}" --prefix /usr
is "$(cd stage && find etc usr/lib -type f | sort | paste -sd' ')" \
	"etc/ced/ced.conf usr/lib/libced.a usr/lib/libced.so.0.1.0 usr/lib/pkgconfig/ced.pc usr/lib/systemd/catalog/ced.catalog usr/lib/systemd/system/ced-alerts.service usr/lib/systemd/system/ced.service usr/lib/systemd/system/ced.slice usr/lib/systemd/system/ced.socket usr/lib/systemd/user/ced.service usr/lib/systemd/user/ced.socket usr/lib/sysusers.d/ced.conf usr/lib/tmpfiles.d/ced.conf" \
	"for /usr the settings are in /etc, the rest where systemd and compilers look"
like "$(cat stage/usr/lib/systemd/system/ced.service)" \
	"ExecStart=/usr/bin/ced-spawner --user ced --libexec /usr/libexec/ced -- --config /etc/ced/ced.conf" \
	"the unit names the places without DESTDIR"
echo "workers_min = 1" >stage/etc/ced/ced.conf
DESTDIR=$work/stage exits 0 "it is installed again" "${installed[@]}" --prefix /usr
is "$(cat stage/etc/ced/ced.conf)" "workers_min = 1" "and the administrator's settings are kept"

# --- anywhere ----------------------------------------------------------------------------------

exits 0 "it is installed below another prefix" "${installed[@]}" --prefix "$work/there"
unit=$work/there/lib/systemd/system/ced.service
mapfile -t places < <(grep -o "$work/there/[^ ]*" "$unit")
is "${#places[@]}" 6 "the unit names its six places"
for place in "${places[@]}"; do
	[[ -e $place ]]
	ok $? "and ${place#"$work"/there/} is there"
done

if command -v systemd-analyze >/dev/null; then
	units=$work/there/lib/systemd
	for one in system/ced.socket system/ced.service system/ced-alerts.service system/ced.slice \
		user/ced.socket user/ced.service; do
		is "$(XDG_RUNTIME_DIR=$work SYSTEMD_UNIT_PATH=$units/${one%/*}: systemd-analyze verify \
			"--${one%/*}" --man=no "$units/$one" 2>&1)" "" "systemd has nothing to say about $one"
	done
fi
if [[ $(systemd-analyze --version 2>/dev/null | head -n 1) == 'systemd 252 '* ]]; then # others count other things
	# What the unit says of its exposure is what systemd-analyze prints, with a reason for each line.
	systemd-analyze security --offline=true --no-pager "$unit" >score 2>&1
	score=$(sed -n 's/.*exposure level for ced.service: \([0-9.]*\) .*/\1/p' score)
	is "$(sed -n 's/^# Exposure by .*: \([0-9.]*\)\..*/\1/p' "$unit")" "$score" "the unit names its exposure: $score"
	is "$(sed -n 's/^# ✗ \([^ ]*\) .*/\1/p' "$unit" | sort)" "$(sed -n 's/^✗ \([^ ]*\) .*/\1/p' score | sort)" \
		"and each thing that counts"
	is "$(sed -n 's/^# ✗ [^ ]* *//p' "$unit" | grep -cE '^.{5}')" "$(grep -c '^✗' score)" "with its reason"
fi

# --- with a watchdog -----------------------------------------------------------------------------

# The manager's word is about the process that it started; the one that feeds is another.
chmod -R a+rX "$work/there"
/usr/bin/python3 "$CED_SOURCE/tests/scenario/203-service.py" "$work/there/bin/ced-spawner" \
	"$CED_SOCKET" "$ced_state" "${ced_arguments[@]}" >"$work/fed" 2>"$ced_log"
is "$(<"$work/fed")" "ready and fed" "the daemon says that it is ready, and feeds the watchdog"

# --- with the rights of the unit ---------------------------------------------------------------

if [[ $(id -u) != 0 ]]; then
	diag "the rights of the unit are tried by root only"
	done_testing
fi
bounding=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | sed 's/CAP_/+/g; s/ /,/g' | tr '[:upper:]' '[:lower:]')

# starts BOUNDING: the installed programs with these capabilities at most.
starts() {
	local tries
	setpriv --bounding-set="-all,$1" --inh-caps=-all "$work/there/bin/ced-spawner" -- \
		--socket "$CED_SOCKET" --state "$ced_state" >"$ced_log" 2>&1 </dev/null &
	ced_spawner=$!
	for ((tries = 0; tries < 1200; tries++)); do
		daemon_is_ready && return 0
		kill -0 "$ced_spawner" 2>/dev/null || break
		sleep 0.1
	done
	wait "$ced_spawner"
	ced_spawner=
	return 1
}

starts "$bounding"
ok $? "with the unit's capabilities it starts"
exits 0 "and runs programs" cectl run -c 'print(6 * 7)'
exits 124 "and ends them" cectl run -c 'import time; time.sleep(9)' --limit wall=100ms
spawner=$ced_spawner
daemon_stop
is "$(find /sys/fs/cgroup -type d -name "ced-$spawner" 2>/dev/null)" "" "and leaves no cgroup"

for capability in ${bounding//,/ }; do
	! starts "$(tr ',' '\n' <<<"$bounding" | grep -vxF "$capability" | paste -sd,)"
	ok $? "without ${capability#+} it does not start"
	daemon_stop
done
done_testing
