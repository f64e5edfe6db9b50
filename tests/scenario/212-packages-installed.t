#!/bin/bash
# The Debian packages are installed, used, upgraded, removed and purged in a Debian that has nothing
# beside what they depend on: Debian 12, or the one that CED_SUITE names.  Its root is made once by mmdebstrap and kept in build/; each test sees a
# copy on write of it, in namespaces of its own without a network.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/older_package.sh"
[[ $(id -u) == 0 ]] || skip_all "only root can install packages"
for tool in cpack dpkg-deb dpkg-shlibdeps file mmdebstrap; do
	command -v "$tool" >/dev/null || skip_all "$tool is not installed: ./dev setup package test"
done
suite=${CED_SUITE:-bookworm}
packages=(ced cectl python3-ced node-ced)
more=() # in the root beside what they depend on
[[ $suite == bookworm ]] || more=(apparmor) # the one that reads our profile
limit_s=1500 # nothing of this test lives longer

# --- the packages, and those of an earlier version ------------------------------------------------

cmake --build "$CED_BUILD" --target package_parts >"$work/log" 2>&1 ||
	bail "package_parts: $(tail -n 5 "$work/log")"
version=$(cectl --version | cut -d ' ' -f 2)
(umask 022 && cd "$CED_BUILD" && cpack -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip -B "$work/new") >"$work/log" 2>&1
ok $? "packages are made" "$(tail -n 5 "$work/log")"
rm -rf "$work/new/_CPack_Packages"
mkdir "$work/old"
for package in "$work"/new/*.deb; do
	older_package "$package" "$work/old" "$version" 0.0.1 >"$work/log" 2>&1
	ok $? "an earlier $(basename "${package%%_*}") is made" "$(tail -n 5 "$work/log")"
done

# --- a root ---------------------------------------------------------------------------------------

# What the packages depend on and recommend, without themselves; of alternatives the first.
needed() {
	local field name
	for name in "${packages[@]}"; do
		for field in Depends Recommends; do
			dpkg-deb -f "$work/new/${name}"_* "$field"
		done
	done | tr ',' '\n' | sed 's/|.*//; s/(.*//; s/ //g; /^$/d' | sort -u |
		grep -vxF "$(printf '%s\n' "${packages[@]}")"
}
# One at a time makes it; one that was made half is nobody's root.
cached_root() {
	local cache=$CED_SOURCE/build/package-roots list half
	list=$({ needed; printf '%s\n' "${more[@]}"; } | sed '/^$/d' | paste -sd,)
	mkdir -p "$cache"
	root=$cache/$(sha256sum <<<"$suite $list" | cut -c 1-16)
	exec {lock}>"$cache/lock"
	flock "$lock"
	if [[ ! -d $root ]]; then
		half=$(mktemp -d "$cache/half.XXXXXX")
		timeout 900 mmdebstrap --quiet --variant=minbase --include="$list" "$suite" "$half/root" \
			>"$work/log" 2>&1 && chmod 755 "$half/root" && mv "$half/root" "$root"
		rm -rf --one-file-system "$half"
	fi
	exec {lock}>&-
	[[ -d $root ]]
}
cached_root || { diag "$(tail -n 5 "$work/log")"; skip_all "no Debian packages to be had"; }

# Its first process sleeps in namespaces of its own; all others enter them.  It is no chroot, in which
# the kernel allows nobody a user namespace.
cat >"$work/first" <<'END'
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 none "$1/over"
mkdir "$1/over/upper" "$1/over/work" "$1/over/root"
mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/over/upper,workdir=$1/over/work" "$1/over/root"
cd "$1/over/root"
mkdir -p packages outside
mount --bind "$1" packages
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs -o mode=755 none run
pivot_root . outside
umount -l /outside
rmdir /outside
exec chroot . /bin/sleep "$3"
END
mkdir "$work/over"
unshare --mount --pid --net --uts --ipc --fork --kill-child=KILL \
	bash "$work/first" "$work" "$root" "$limit_s" >"$work/first.log" 2>&1 &
holder=$!
# shellcheck disable=SC2317 # the trap calls it
leave() {
	local status=$?
	kill -KILL "$first" "$holder" 2>/dev/null
	wait "$holder" 2>/dev/null
	(exit "$status")
	ced_leave
}
first=
for ((tries = 0; tries < 600; tries++)); do
	first=$(pgrep -P "$holder" -x sleep) && break
	kill -0 "$holder" 2>/dev/null || break
	sleep 0.1
done
trap leave EXIT
[[ -n $first ]] || bail "no root: $(tail -n 3 "$work/first.log")"
enter=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
	nsenter --target "$first" --mount --pid --net --uts --ipc --wd=/)
# inside COMMAND...
inside() {
	"${enter[@]}" "$@"
}
# as USER COMMAND...
as() {
	inside runuser -u "$1" -- "${@:2}"
}
# What is there, but for what dpkg and others note about packages, and for mounts.
listing() {
	inside find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /packages -o -path /tmp \
		-o -path /var/log -o -path /var/cache -o -path /var/lib/dpkg -o -path /var/backups \) -prune -o -print |
		sort
	inside find /run | sort
}
# owner PATH: "mode user group"
owner() {
	inside stat -c '%a %U %G' "$1"
}

listing >"$work/before"

# --- install ------------------------------------------------------------------------------------

exits 0 "the packages are installed" inside bash -c 'dpkg -i /packages/old/*.deb'
exits 0 "nothing that they depend on is missing" inside apt-get check
exits 0 "each file is as its package has it" inside dpkg --verify ced cectl python3-ced node-ced
is "$(owner /var/lib/ced)" "700 ced ced" "the folder of the record belongs to the daemon's user alone"
is "$(owner /run/ced)" "755 ced ced" "the folder of the socket can be entered"
is "$(owner /etc/ced/ced.conf)" "644 root root" "the settings are root's"
is "$(inside getent passwd ced | cut -d : -f 6,7)" "/var/lib/ced:/usr/sbin/nologin" "nobody logs in as the user ced"
exits 0 "the settings have no mistake" inside cectl config check
exits 0 "there are pages to read" inside bash -c 'zcat /usr/share/man/man8/ced.8.gz && cat /usr/share/doc/ced/README.md'

if inside test -e /etc/apparmor.d/abi/4.0; then
	exits 0 "AppArmor reads the profile that came along" \
		inside apparmor_parser --skip-kernel-load --skip-cache /etc/apparmor.d/ced
	is "$(inside apparmor_parser --names /etc/apparmor.d/ced | paste -sd' ')" "ced ced-probe" "which names the programs that make jails"
else
	exits 1 "without AppArmor 4 there is no profile" inside test -e /etc/apparmor.d/ced
fi
exits 0 "cectl doctor finds all that ced needs" inside cectl doctor
like "$out" 'ced runs here, started by root' "and says so"

# --- use ----------------------------------------------------------------------------------------

# Whether each language has a warm worker.
all_warm() {
	[[ $(json "$(inside cectl runtimes --json 2>/dev/null)" 'all(one["warm"] for one in it["runtimes"])') == true ]]
}
# As the unit starts it, but for what only systemd does.
start() {
	local tries
	"${ced_own[@]}" "${enter[@]}" ced-spawner --user ced --libexec /usr/libexec/ced -- --config /etc/ced/ced.conf \
		>>"$work/daemon" 2>&1 &
	daemon=$!
	for ((tries = 0; tries < 1200; tries++)); do
		all_warm && return 0
		kill -0 "$daemon" 2>/dev/null || break
		sleep 0.1
	done
	bail "the daemon did not come up: $(tail -n 3 "$work/daemon")"
}
stop() {
	kill "$(pgrep -P "$daemon")"
	wait "$daemon"
	ok $? "the daemon stops"
}
start
is "$(inside cectl run -c 'print(6 * 7)')" 42 "root runs a program"
is "$(inside stat -c %U "/proc/$(json "$(inside cectl status --json)" 'it["pid"]')")" ced "the daemon is the user ced"
inside useradd --groups ced agent
inside useradd stranger
is "$(as agent cectl run -c 'print("member")')" member "a member of the group ced runs programs"
is "$(as agent cectl run --language bash -c 'echo bash')" bash "in bash"
is "$(as agent cectl run --language javascript -c 'console.log("node")')" node "in node"
as agent cectl run -c 1 >/dev/null
exits 125 "another user may not" as stranger cectl run -c 'print(1)'
like "$err" 'you may not use .*/run/ced/ced.sock.*adduser YOU ced' "and is told what an administrator types"
is "$(as agent python3 -c 'import ced
with ced.Client() as client: print(client.run("print(1)").outcome)')" ok "the client of python3-ced runs one"
is "$(as agent env NODE_PATH=/usr/share/nodejs node -e '
const { Client } = require("ced");
(async () => { const client = new Client(); console.log((await client.run("print(1)")).outcome); client.close(); })();')" \
	ok "so does that of node-ced"
id=$(json "$(inside cectl runs --json)" 'it["runs"][-1]["run_id"]')
stop

# --- upgrade ------------------------------------------------------------------------------------

inside bash -c 'echo "wait_ms = 2min" >>/etc/ced/ced.conf'
inside touch /var/lib/ced/mine
exits 0 "the next version is installed over it" inside bash -c 'dpkg -i /packages/new/*.deb'
is "$(inside dpkg-query --status ced | sed -n 's/^Version: //p')" "$version" "it is there"
exits 0 "it asked nothing about the settings" inside grep -qx 'wait_ms = 2min' /etc/ced/ced.conf
is "$(inside find /etc/ced -type f)" /etc/ced/ced.conf "and left no second file of them"
start
is "$(json "$(inside cectl config show wait_ms --json)" 'it[0]["value"]')" 2min "its settings are the administrator's"
exits 0 "the record has the runs of before" inside cectl show "$id"
exits 0 "and is whole" inside cectl audit verify
stop

# --- remove and purge -----------------------------------------------------------------------------

exits 0 "the packages are removed" inside dpkg --remove "${packages[@]}"
exits 1 "no program is left" inside bash -c 'ls /usr/bin/cectl /usr/bin/ced-spawner /usr/libexec/ced 2>/dev/null | grep .'
is "$(inside ls /etc/ced/ced.conf /var/lib/ced/ced.db | paste -sd' ')" "/etc/ced/ced.conf /var/lib/ced/ced.db" \
	"settings and record are"
exits 0 "they are purged" inside dpkg --purge "${packages[@]}"
inside userdel agent
inside userdel stranger
listing >"$work/after"
is "$(diff "$work/before" "$work/after" | grep '^[<>]' |
	grep -Ev '^> /(etc/(passwd|group|shadow|gshadow|subuid|subgid)-|etc/\.pwd\.lock|run/(lock|systemd).*|home.*)$')" "" \
	"nothing of them is left"
is "$(inside getent passwd ced | cut -d : -f 1)" ced "but for the user, whose number nobody else shall get"
done_testing
