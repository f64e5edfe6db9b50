#!/bin/bash
# Runs as root inside the guest of vm/package.t, with the version of the newer packages as its argument.
# shellcheck source=tests/vm/guest.sh
. "$(dirname "$0")/guest.sh"
export DEBIAN_FRONTEND=noninteractive
packages=(ced cectl python3-ced)
install_all() { # version
	apt-get install --yes --allow-downgrades "/opt/packages/$1"/*.deb >/tmp/apt 2>&1
}
moment() { systemctl show ced -P "$1"; }
runs() { [ "$(cectl run -c 'print(6 * 7)' 2>/dev/null)" = 42 ]; }

# --- install and use ------------------------------------------------------------------------------

slow_start
find / -xdev \( -path /var/lib/dpkg -o -path /var/log -o -path /var/cache -o -path /tmp -o -path /proc -o -path /sys \
	-o -path /run -o -path /root -o -path /var/backups -o -path /var/lib/systemd -o -path /etc/systemd/system/ced.service.d \) -prune -o -print |
	sort >/tmp/before
began=$(cut -d ' ' -f 1 /proc/uptime)
install_all 0.0.1
installed=$?
ok $installed "the packages are installed without a network"
[ $installed = 0 ] || tail -n 12 /tmp/apt | sed 's/^/# /'
out=$(cectl run -c 'print(6 * 7)')
ended=$(cut -d ' ' -f 1 /proc/uptime)
is "$out" 42 "the first run is answered"
echo "# from package to first answer: $(echo "$began $ended" | awk '{ print $2 - $1 }') s of guest time"
is "$(systemctl is-active ced.socket ced.service | paste -sd' ')" "active active" "socket and service are up"
is "$(systemctl is-enabled ced.socket ced.service | paste -sd' ')" "enabled enabled" "and come back after a boot"
is "$(stat -c '%U %G %a' /run/ced/ced.sock)" "ced ced 660" "the socket is for the group ced"
useradd -G ced agent
useradd stranger
is "$(as agent cectl run -c 'print("member")')" member "a member of the group runs code"
as stranger cectl run -c 1 | grep -q 'you may not use'
ok $? "another user cannot, and is told why"
is "$(as agent python3 -c 'import ced
with ced.Client() as client: print(client.run("print(1)").outcome)')" ok "so does the client of python3-ced"
is "$(cectl status --json | python3 -c '
import json, sys
it = json.load(sys.stdin)
print(it["mode"], it["host"]["memory"], it["host"]["pids"], it["host"]["cpu"], it["host"]["landlock_abi"] > 0, it["host"]["missing"])')" \
	"root cgroup2 cgroup2 cgroup2 True []" "limits are held by cgroup v2, and Landlock is on"
cectl config check >/dev/null
ok $? "the settings have no mistake"
chmod 600 /etc/ced/ced.conf
cectl config check 2>&1 | grep -q 'let uid .* read it'
ok $? "unless the daemon cannot read them, which root is told"
chmod 644 /etc/ced/ced.conf
[ -e /etc/apparmor.d/abi/4.0 ] || [ ! -e /etc/apparmor.d/ced ]
ok $? "AppArmor gets the profile only if it can read it"
if [ -e /etc/apparmor.d/abi/4.0 ]; then
	is "$(grep -c '^ced\(-probe\)\? ' /sys/kernel/security/apparmor/profiles)" 2 "which is loaded"
	is "$(tr -d '\0' <"/proc/$(pgrep -o -x ced-spawner)/attr/current")" "ced (unconfined)" \
		"and holds for the program that makes jails"
fi

# --- the socket -------------------------------------------------------------------------------------

systemctl stop ced 2>/dev/null
is "$(moment ActiveState)" inactive "the service is stopped alone"
is "$(as agent cectl run -c 'print("woke")')" woke "a client starts it by the socket"
python3 - >/tmp/load <<'END' &
import ced, time
refused, done = [], 0
until = time.monotonic() + 3600
while time.monotonic() < until:
    try:
        with ced.Client() as client:
            outcome = client.run("print(1)", id=f"load-{done}").outcome
        done += 1
        if outcome != "ok":
            refused.append(outcome)
    except ced.CedError as error:
        if "draining" not in str(error) and "closed" not in str(error):
            refused.append(repr(error))
    print(done, refused[:3], flush=True)
END
load=$!
for _ in 1 2 3; do
	systemctl restart ced
	systemctl reload ced
done
until_true grep -q '^[1-9]' /tmp/load
kill "$load"
wait "$load" 2>/dev/null
tail -n 1 /tmp/load | grep -qx '[1-9][0-9]* \[\]'
ok $? "three restarts and reloads refuse no waiting client: $(tail -n 1 /tmp/load)"

# --- the watchdog -----------------------------------------------------------------------------------

printf '[Service]\nWatchdogSec=20s\n' >/etc/systemd/system/ced.service.d/watchdog.conf
systemctl daemon-reload
systemctl restart ced
until_true runs
restarts=$(moment NRestarts)
kill -STOP "$(pgrep -x ced)"
has_restarted() { [ "$(moment NRestarts)" -gt "$restarts" ]; }
until_true has_restarted
ok $? "a daemon that was stopped with a signal is restarted by the watchdog"
until_true runs
ok $? "and runs again"
rm /etc/systemd/system/ced.service.d/watchdog.conf
systemctl daemon-reload

# --- the journal -------------------------------------------------------------------------------------

echo 'journal_runs = "failed"' >>/etc/ced/ced.conf
systemctl restart ced
ok $? "it starts with the changed settings"
as agent cectl run --agent planner -c 'raise SystemExit(3)' >/dev/null
id=$(cectl runs --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["run_id"])')
in_journal() { journalctl --no-pager -o cat CED_OUTCOME=exit CED_AGENT=planner "CED_UID=$(id -u agent)" | grep -q "$id"; }
until_true in_journal
ok $? "the journal has the run, by outcome, agent and user"
journalctl --no-pager -x "CED_RUN_ID=$id" | grep -q "cectl show $id"
ok $? "and explains it by the catalog"

# --- a credential ---------------------------------------------------------------------------------------

cectl audit key >/tmp/key
systemd-creds encrypt --with-key=host --name=audit.key /var/lib/ced/audit.key /etc/ced/audit.key.cred 2>/dev/null
rm /var/lib/ced/audit.key
mkdir -p /etc/ced/ced.conf.d
echo 'audit_key = "/run/ced/audit.key"' >/etc/ced/ced.conf.d/key.conf
cat >/etc/systemd/system/ced.service.d/key.conf <<'END'
[Service]
LoadCredentialEncrypted=audit.key:/etc/ced/audit.key.cred
ExecStartPre=+install -m 400 -o ced ${CREDENTIALS_DIRECTORY}/audit.key /run/ced/audit.key
END
systemctl daemon-reload
systemctl restart ced
ok $? "it starts with a key that systemd keeps encrypted"
is "$(cectl audit key)" "$(cat /tmp/key)" "which is the same key"

# --- a daemon of one user ------------------------------------------------------------------------------

useradd --create-home --shell /bin/bash loner
cat >/home/loner/own <<'END'
systemctl --user start ced.socket && cectl run --socket "$XDG_RUNTIME_DIR/ced/ced.sock" -c 'print("mine")'
END
out=$(su --login loner --command 'bash own' 2>/tmp/own.err | tail -n 1)
is "$out" mine "systemctl --user starts a daemon of one user by its socket"
[ "$out" = mine ] || sed 's/^/# /' /tmp/own.err
su --login loner --command 'test -e ~/.config/ced/ced.conf -a -e ~/.local/state/ced/ced.db; systemctl --user stop ced.socket ced' 2>/dev/null
ok $? "with settings and record in that user's home"

# --- upgrade, remove, purge ---------------------------------------------------------------------------

pid=$(pgrep -x ced)
install_all "$1"
ok $? "the next version is installed over it"
is "$(dpkg-query -W -f '${Version}' ced)" "$1" "it is there"
until_true runs
ok $? "and runs"
[ "$(pgrep -x ced)" != "$pid" ]
ok $? "as a new process"
cectl show "$id" >/dev/null
ok $? "the record has the runs of before"
grep -qx 'journal_runs = "failed"' /etc/ced/ced.conf
ok $? "the settings are the administrator's"
cectl audit verify >/dev/null
ok $? "the record is whole"
apt-get remove --yes "${packages[@]}" >/tmp/apt 2>&1
ok $? "the packages are removed"
is "$(pgrep -c -f 'ced-spawner|libexec/ced' || true)" 0 "no process is left"
is "$(find /sys/fs/cgroup -type d -name 'ced-*' | wc -l)" 0 "no cgroup"
[ -e /var/lib/ced/ced.db ]
ok $? "but the record"
apt-get purge --yes "${packages[@]}" >/tmp/apt 2>&1
ok $? "they are purged"
for user in agent stranger loner; do
	loginctl terminate-user "$user" 2>/dev/null
	userdel --remove "$user" 2>/dev/null
done
rm -rf /etc/systemd/system/ced.service.d
find / -xdev \( -path /var/lib/dpkg -o -path /var/log -o -path /var/cache -o -path /tmp -o -path /proc -o -path /sys \
	-o -path /run -o -path /root -o -path /var/backups -o -path /var/lib/systemd -o -path /var/lib/apt \) -prune -o -print | sort >/tmp/after
is "$(comm -13 /tmp/before /tmp/after | grep -v '^/etc/\(.*-\|.pwd.lock\)$')" "" "nothing is left on the disk"
echo "1..$count"
