#!/bin/bash
# cectl doctor: what it says of this host, and of hosts from which something was taken.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

programs=$(ced_programs)
doctor=$programs/bin/cectl
[[ $(id -u) == 0 ]] || skip_all "only root can take things away from others"

# nobody COMMAND...: as a user without any rights.
nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
}

# state NAME: of one check of the document in $out.  found NAME: its words.  repair NAME: what to do.
state() {
	json "$out" "[c['state'] for c in it['checks'] if c['name'] == '$1'][0]"
}
found() {
	json "$out" "[c['found'] for c in it['checks'] if c['name'] == '$1'][0]"
}
repair() {
	json "$out" "[c['repair'] for c in it['checks'] if c['name'] == '$1'][0]"
}

# left: what it may have left behind; a probe of another test that still runs has its own.
left() {
	local folder
	find /sys/fs/cgroup -maxdepth 6 -name 'ced-doctor-*' 2>/dev/null | while read -r folder; do
		[[ -d /proc/${folder##*-} || ! -d $folder ]] || echo "$folder"
	done
	find /sys/fs/cgroup -maxdepth 8 -path '*/ced-*/trial' 2>/dev/null | while read -r folder; do
		folder=${folder%/trial}
		[[ -d /proc/${folder##*-} || ! -d $folder ]] || echo "$folder"
	done
}

# --- this host --------------------------------------------------------------------------------

"$doctor" doctor --json >"$work/out" 2>"$work/err" </dev/null
status=$?
out=$(<"$work/out")
is "$(json "$out" 'it["well"]')" "$([[ $status == 0 ]] && echo true || echo false)" \
	"the exit code is what the document says"
is "$(json "$out" 'sorted({c["state"] for c in it["checks"]} - {"good", "note", "weaker", "missing", "untried"})')" \
	'[]' "each check is in a known state"
is "$(json "$out" 'len([c for c in it["checks"] if c["state"] in ("weaker", "missing") and not (c["repair"] and c["without"])])')" \
	0 "what fails says what it means and how it is repaired"
is "$(json "$out" 'it["daemon"]')" None "no daemon is needed"
is "$(json "$out" 'it["mode"]')" root "it knows who asks"
is "$(<"$work/err")" "" "nothing is said on stderr"

echo 'cgroups = "auto"' >"$work/auto.conf"
exits "$status" "as a page it exits the same" "$doctor" doctor
like "$out" '── jail ─' "checks are in groups"
is "$("$programs/libexec/ced/ced-probe" | sed -n '/"step":"sources"/,/"step":"program"/s/.*"step":"\([a-z_]*\)".*/\1/p')" \
	"$(sed -n 's/^\t{ "\([a-z_]*\)", *step_.*/\1/p' "$here/../../sandbox/jail/jail.c")" \
	"the steps are those of the program that makes jails, in its order"
like "$out" 'python +/usr/bin/python3: cpython 3' "the interpreter was started"
COLUMNS=72 TERM=xterm script -qec "stty cols 72; '$doctor' doctor" /dev/null >"$work/page" 2>&1 </dev/null
wide=$(sed 's/\x1b\[[0-9;]*m//g' "$work/page" | tr -d '\r' | grep -v '^ *repair' |
	/usr/bin/python3 -c 'import sys; print(max(len(line.rstrip("\n")) for line in sys.stdin))')
is "$((wide <= 72))" 1 "and fit the terminal, but for what is there to be pasted"
is "$(left)" "" "no cgroup is left"

exits 0 "as nobody, with cgroups = auto, it is well too" nobody "$doctor" doctor --config "$work/auto.conf"
like "$out" 'all workers share uid 65534' "and says what is different"
nobody "$doctor" doctor --json >"$work/out" 2>/dev/null
is $? "$([[ $(grep -o '"state":"missing"' "$work/out") == "" ]] && echo 0 || echo 1)" \
	"with cgroups required it exits by whether nobody was given some"

# --- settings ---------------------------------------------------------------------------------

echo 'runtime ruby { interpreter = "/usr/bin/no-such-ruby" }' >"$work/ruby.conf"
exits 1 "an interpreter that is not there is missing" "$doctor" doctor --json --config "$work/ruby.conf"
is "$(state ruby)" missing "by the name of its runtime"
like "$(repair ruby)" 'apt-get install no-such-ruby' "with the repair"
echo 'colour = "green"' >"$work/odd.conf"
exits 1 "settings that ced refuses are missing" "$doctor" doctor --config "$work/odd.conf"
like "$out" 'there is no setting colour here' "with what ced says"

echo 'state = "/srv/no-such-folder/ced"' >"$work/state.conf"
exits 1 "a folder of the store that is not there is missing" "$doctor" doctor --json --config "$work/state.conf"
is "$(state state)" missing "by its setting"
like "$(repair state)" 'mkdir -p -m 700 /srv/no-such-folder/ced' "with the line that makes it"
like "$(found written)" 'ReadWritePaths=/srv/no-such-folder/ced' "and what a unit needs for it"
if [[ $(id -u) == 0 ]]; then
	install -d -o 1 "$work/other-state"
	echo "state = \"$work/other-state\"" >"$work/state.conf"
	exits 1 "a folder of the store that belongs to another user is missing" "$doctor" doctor --json --config "$work/state.conf"
	like "$(repair state)" "chown -R [0-9]*:[0-9]* $work/other-state" "with the line that gives it to the daemon"
	chmod 755 "$work"
	chmod 644 "$work/state.conf"
	nobody "$doctor" doctor --json --config "$work/state.conf" >"$work/out" 2>/dev/null
	out=$(<"$work/out")
	is "$(state state) $(repair state)" "missing name a folder of yours in the setting state" "of a user's own settings as well"
	unshare --mount sh -c '
		mount -t tmpfs none /var/lib && mkdir /var/lib/ced && chown 1 /var/lib/ced || exit 9
		[ ! -d /etc/ced ] || mount -t tmpfs none /etc/ced
		exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"' - "$doctor" doctor --json >"$work/out" 2>/dev/null
	out=$(<"$work/out")
	is "$(state state)" note "the folder of the host's service is nothing that an ordinary user is to repair"
fi
echo 'policy = "stict"' >"$work/named.conf"
exits 1 "a policy that is not there is missing, as at a start" "$doctor" doctor --config "$work/named.conf"
like "$out" 'there is no policy "stict"' "with what the start would say"
echo "checkpoint_file = \"$work/kept.log\"" >"$work/kept.conf"
"$doctor" doctor --json --config "$work/kept.conf" >"$work/out" 2>/dev/null
out=$(<"$work/out")
like "$(found written)" "checkpoint_file.*ReadWritePaths=$work" "a second file elsewhere needs a drop-in of the unit"
install -m 600 "$work/auto.conf" "$work/closed.conf"
exits 1 "settings that the daemon's user cannot read are missing" "$doctor" doctor --json --config "$work/closed.conf"
is "$(state configuration)" missing "whoever asks"
like "$(found configuration)" 'closed.conf' "by their name"

# --- hosts from which something was taken -----------------------------------------------------

cat >"$work/no-namespaces" <<-'END'
	echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"
END
exits 1 "without user namespaces it says so" \
	nobody unshare -r bash "$work/no-namespaces" "$doctor" doctor --json --config "$work/auto.conf"
is "$(state namespaces)" missing "by name"
like "$(repair namespaces)" 'echo user.max_user_namespaces=15000 >>/etc/sysctl.d/' "with the line that repairs it"
is "$(state maps)$(state tree)$(state worker)" untrieduntrieduntried "what stands on them is not tried"

exits 1 "without cgroups it says so" \
	unshare -m bash -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' - "$doctor" doctor --json
for name in memory pids cpu; do
	is "$(state $name)" missing "$name by name"
	like "$(repair $name)" 'mount -t cgroup' "with the repair"
done

refuse=$here/refuse.py
if [[ $(uname -m) == x86_64 ]]; then
	exits 1 "under a filter that refuses namespaces it says so" \
		/usr/bin/python3 "$refuse" 1 435 272 -- "$doctor" doctor --json # clone3, unshare
	is "$(state namespaces)" missing "by name"
	is "$(state maps)" untried "what stands on it is not tried"
	like "$(repair namespaces)" 'seccomp=unconfined' "and that it is a filter"
	# A sanitizer needs a /proc in the jail, which is one of its sources.
	mounted=tree
	ldd "$(ced_programs)/libexec/ced/ced-probe" | grep -qE 'lib[at]san' && mounted=sources
	for call in "430 $mounted fsopen" '428 sources open' '155 tree pivot_root'; do
		read -r number step name <<<"$call"
		exits 1 "under one that refuses $name" \
			/usr/bin/python3 "$refuse" 1 "$number" -- "$doctor" doctor --json
		is "$(state "$step")" missing "$step is missing"
		like "$(found "$step")" "$name.*: Operation not permitted" "by the call's name"
	done
	exits 1 "under one without Landlock it misses that" \
		/usr/bin/python3 "$refuse" 95 444 -- "$doctor" doctor --json
	is "$(state Landlock)" missing "by name"
	like "$(repair Landlock)" 'lsm=' "with the repair"
	echo 'require = {}' >"$work/less.conf"
	exits "$status" "with settings that do without it is only weaker" \
		/usr/bin/python3 "$refuse" 95 444 -- "$doctor" doctor --json --config "$work/less.conf"
	is "$(state Landlock)" weaker "and says so"
	exits "$status" "and so it is on a kernel that never had it" \
		/usr/bin/python3 "$refuse" 38 444 -- "$doctor" doctor --json
	is "$(state Landlock)" weaker "since nobody can switch it on"
fi
is "$(left)" "" "nothing is left of all this"

# --- a daemon that runs -----------------------------------------------------------------------

daemon_start
exits "$status" "with a daemon it says the same of the host" "$doctor" doctor --json
like "$(json "$out" 'it["daemon"]["memory"]')" '^cgroup[12]$' "and what the daemon has"
exits 0 "where cgroups are missing and the daemon has them, that is well" \
	unshare -m bash -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' - "$doctor" doctor --json
is "$(state memory)" note "and noted"
daemon_stop
done_testing
