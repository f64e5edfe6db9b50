# Runs as root inside the guest of vm/service.t: what docs/operations/install.md tells an administrator to
# do, in its order.  TAP.

# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"
processes() { pgrep -c -f 'ced-spawner|libexec/ced|^ced ' || true; }

systemd-sysusers
slow_start
systemctl daemon-reload
verify=$(systemd-analyze verify ced.socket ced.service ced.slice 2>&1 | grep -i ced)
is "$verify" "" "systemd has nothing to say about the units"
score=$(systemd-analyze security --no-pager ced.service | tail -n 1)
echo "# $score"
systemd-analyze security --no-pager --threshold=35 ced.service >/dev/null
ok $? "its exposure is at most 3.5"

systemctl enable --now ced 2>/dev/null
ok $? "it starts and says when it is ready"
is "$(cectl run -c 'print(6 * 7)')" 42 "root runs a program"
is "$(cectl status --json | python3 -c '
import json, sys
it = json.load(sys.stdin)
print(it["mode"], it["host"]["memory"], it["host"]["pids"], it["host"]["cpu"])')" \
	"root cgroup2 cgroup2 cgroup2" "as root, with cgroups for all that wants them"
pid=$(pgrep -x ced)
is "$(awk '/^(Uid|CapEff|CapPrm|CapBnd|NoNewPrivs|Seccomp):/ { print $2 }' "/proc/$pid/status" | paste -sd' ')" \
	"$(id -u ced) 0000000000000000 0000000000000000 0000000000000000 1 2" \
	"the daemon is user ced, without rights, filtered"

useradd -G ced agent
useradd stranger
is "$(as agent cectl run -c 'import os; print(os.getuid())')" 1000 "a member of the group is let in"
as stranger cectl run -c 1 | grep -q 'you may not use'
ok $? "others are not, and are told how"
is "$(as agent cectl runs --json | python3 -c '
import json, sys
print([run["uid"] for run in json.load(sys.stdin)["runs"]])')" "[$(id -u agent)]" "who sees their own runs only"
as agent cectl status | grep -q forbidden
ok $? "and not the daemon's state"
cectl run -c 'x = bytearray(1 << 30)' --limit memory=64M >/dev/null 2>&1
is $? 137 "memory is held"
cectl run -c 'while True: pass' --limit cpu=200ms >/dev/null 2>&1
is $? 124 "cpu time is held"
cectl run -c 'while True: print("x" * 999)' --limit stdout=10K >/dev/null 2>&1
is $? 123 "output is held"
cectl demo >/tmp/demo 2>&1
ok $? "the tour goes well"

runuser -u ced -- sqlite3 /var/lib/ced/ced.db ".backup /var/lib/ced/backup.db"
is "$(sqlite3 /var/lib/ced/backup.db 'PRAGMA integrity_check')" ok "a backup while it runs is whole"
is "$(cectl run -c 'print("still")')" still "and harms nobody"

systemctl restart ced
ok $? "it is restarted"
is "$(cectl run -c 'print("again")')" again "and runs again"
is "$(cectl runs --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["runs"]) > 5)')" \
	True "with everything on record"
# The moment when systemd last heard from it, and the one when it was called ready.
moment() { systemctl show ced -P "$1"; }
until [ "$(moment WatchdogTimestampMonotonic)" -gt "$(moment ActiveEnterTimestampMonotonic)" ] ||
	[ "$(moment NRestarts)" -gt 0 ]; do
	sleep 1
done
is "$(moment NRestarts)" 0 "it feeds the watchdog, which let it live all the time"
kill -KILL "$(pgrep -x ced)"
for _ in $(seq 100); do
	out=$(cectl run -c 'print("back")' 2>/dev/null) && break
	sleep 0.5
done
is "$out" back "killed, it comes back by itself"

echo 'queue_max = none' >>/usr/local/etc/ced/ced.conf
systemctl restart ced 2>/dev/null
sleep 2
journalctl -u ced --no-pager | grep -q 'start.failed.*queue_max = none is invalid'
ok $? "a mistake in the settings is in the journal, with its name"
sed -i '$d' /usr/local/etc/ced/ced.conf
systemctl reset-failed ced 2>/dev/null
systemctl restart ced
ok $? "and when it is gone all is well"

systemctl stop ced.socket ced
ok $? "it stops"
is "$(processes)" 0 "no process is left"
is "$(find /sys/fs/cgroup -type d -name 'ced-*' | wc -l)" 0 "no cgroup"
is "$(ls /run/ced)" "" "no socket"

# A private one, as docs/operations/install.md has it, by a user who logs in.
useradd --create-home --shell /bin/bash loner
cat >/home/loner/daemon <<'END'
install -d -m 700 "$XDG_RUNTIME_DIR/ced" ~/.local/state/ced
systemd-run --user --scope -p Delegate=yes ced-spawner -- \
	--config /usr/local/share/doc/ced/examples/private.conf \
	--socket "$XDG_RUNTIME_DIR/ced/ced.sock" --state ~/.local/state/ced
END
cat >/home/loner/client <<'END'
export CED_SOCKET=$XDG_RUNTIME_DIR/ced/ced.sock
for _ in $(seq 60); do
	cectl run --json -c 'print(6 * 7)' >result 2>/dev/null && break
	sleep 0.5
done
python3 -c '
import json
it = json.load(open("result"))
held = it["limits"]["enforced_by"]
print(it["stdout"].strip(), {held[name] for name in ("memory_bytes", "pids", "cpu_ms", "cpu_percent")})'
END
su --login loner --command 'cectl doctor >log 2>&1'
is $? 1 "before that, cectl doctor says what an ordinary session has not got"
grep -q 'repair .*systemd-run --user --scope -p Delegate=yes' /home/loner/log
ok $? "and what to do"
su --login loner --command 'systemd-run --user --quiet --scope -p Delegate=yes cectl doctor >log 2>&1'
status=$?
is "$status" 0 "which is enough"
[ "$status" = 0 ] || sed 's/^/# /' /home/loner/log
systemd-run --quiet --scope -p Delegate=yes cectl doctor >/tmp/doctor 2>&1
is "$? $(grep -c '✗' /tmp/doctor)" "0 0" "root has all there is"
su --login loner --command 'bash daemon >log 2>&1' &
is "$(su --login loner --command 'bash client')" "42 {'cgroup2'}" \
	"an ordinary user's private daemon runs programs, and cgroups hold them"
sed 's/^/# /' /home/loner/log
kill "$(pgrep -u loner -x ced-spawner)"
wait
is "$(find /sys/fs/cgroup -type d -name 'ced-*' | wc -l)" 0 "and leaves no cgroup"

for option in RestrictSUIDSGID ProtectHostname ProtectControlGroups RestrictNamespaces; do
	mkdir -p /run/systemd/system/ced.service.d
	printf '[Service]\nRestart=no\nTimeoutStartSec=20\n%s=yes\n' "$option" \
		>/run/systemd/system/ced.service.d/try.conf
	systemctl daemon-reload
	! systemctl start ced 2>/dev/null
	ok $? "with $option=yes there would be no jails, as docs/operations/install.md says"
	systemctl stop ced.socket ced
	systemctl reset-failed ced 2>/dev/null
done
echo "1..$count"
