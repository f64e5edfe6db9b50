# Sourced by the tests of this folder: a stock Debian in an emulator, and the TAP of scenarios.
#
#   . "$(dirname "$0")/lib.sh"
#   vm_prepare                     or SKIP: the image, from build/vm/ where it is already
#   vm_add_build                   what goes along: the release build and the tests, in /opt/ced
#   vm_boot                        until systemd has started all there is
#   vm_tap service 'bash x.sh'     each line of TAP that the guest writes is one of ours
#   out=$(vm_run 'uname -r')       what it prints; its exit status too
#   vm_power_cut; vm_boot          the same disk, as the power found it
#   done_testing
#
# vm_begin, vm_read, vm_status: as vm_run, line by line, with the power cut in the middle perhaps.
# Everything has a bound in seconds: the emulator may take ten times as long on a busy machine.
# shellcheck shell=bash
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/scenario/lib.sh
. "$here/../scenario/lib.sh"

vm_suite=${CED_VM_SUITE:-bookworm} # Debian 12, or trixie: Debian 13
vm_boot_s=${CED_VM_BOOT_S:-400}  # from power on to a system that is up
vm_life_s=${CED_VM_LIFE_S:-2400} # no emulator lives longer, whatever happens to us
vm_cache=$CED_SOURCE/build/vm
vm_release=$CED_SOURCE/build/release
vm_folder=$ced_folder/vm
vm_payload=$vm_folder/payload
vm_job=

# A minimal Debian with what ced is linked with, what it is looked at with, and nothing from
# anywhere else: its kernel, its systemd with managers for users, AppArmor as Debian sets it up.
vm_packages=(
	systemd systemd-sysv dbus dbus-user-session libpam-systemd udev apparmor
	linux-image-cloud-amd64 python3 python3-msgpack
	libseccomp2 libcap-ng0 libuv1 libsqlite3-0 libzstd1 libjansson4 libpcre2-8-0 libsodium23
	procps util-linux findutils binutils sqlite3
)

# --- the image -----------------------------------------------------------------------------------

# vm_make_image FOLDER: disk, kernel and initrd.
vm_make_image() {
	local root=$1/root packages
	packages=$(IFS=,; echo "${vm_packages[*]}")
	timeout 900 mmdebstrap --quiet --variant=minbase --include="$packages" "$vm_suite" \
		"$1/root.tar" || return 1
	mkdir "$root" && tar -C "$root" -xf "$1/root.tar" || return 1
	install -m 755 "$here/agent.sh" "$root/usr/local/sbin/agent.sh"
	install -m 644 "$here/agent.service" "$root/etc/systemd/system/agent.service"
	ln -s ../agent.service "$root/etc/systemd/system/multi-user.target.wants/agent.service"
	echo stock >"$root/etc/hostname"
	cp "$root"/boot/vmlinuz-* "$1/vmlinuz" && cp "$root"/boot/initrd.img-* "$1/initrd" &&
		mke2fs -q -t ext4 -d "$root" "$1/disk" 3G || return 1
	rm -rf "$root" "$1/root.tar"
}

# Which image this is: another list of packages, agent or recipe makes another.
vm_key() {
	{
		echo "$vm_suite ${vm_packages[*]}"
		declare -f vm_make_image
		cat "$here/agent.sh" "$here/agent.service"
	} | sha256sum | cut -c 1-16
}

# One at a time makes it; one that was made half is nobody's image.
vm_cached_image() {
	local image half
	image=$vm_cache/$(vm_key)
	mkdir -p "$vm_cache"
	exec {lock}>"$vm_cache/lock"
	flock "$lock"
	if [[ ! -d $image ]]; then
		half=$(mktemp -d "$vm_cache/half.XXXXXX")
		chmod 755 "$half"
		if vm_make_image "$half" >"$vm_folder/log" 2>&1; then
			mv "$half" "$image"
		fi
		rm -rf "$half"
	fi
	exec {lock}>&-
	vm_image=$image
	[[ -d $image ]]
}

vm_prepare() {
	local tool
	for tool in qemu-system-x86_64 mmdebstrap mke2fs; do
		command -v "$tool" >/dev/null || skip_all "no $tool here: ./dev setup vm"
	done
	[[ $(id -u) == 0 ]] || skip_all "only root makes the image"
	[[ -x $vm_release/bin/ced-spawner ]] || bail "there is no release build: ./dev build"
	mkdir -p "$vm_payload"
	if ! vm_cached_image; then
		diag "$(tail -n 5 "$vm_folder/log")"
		skip_all "no Debian packages to be had"
	fi
	cp --sparse=always --reflink=auto "$vm_image/disk" "$vm_folder/disk"
}

# --- what goes along -----------------------------------------------------------------------------

# vm_install PREFIX: the release, as `cmake --install` lays it out.
vm_install() {
	DESTDIR=$vm_payload flock "$vm_release" cmake --install "$vm_release" --prefix "$1" >"$vm_folder/log" 2>&1 ||
		bail "cmake --install: $(tail -n 3 "$vm_folder/log")"
}

# The release in /opt/ced, the programs of the tests and the tests' own files beside it.
vm_add_build() {
	local ced=$vm_payload/opt/ced
	vm_install /opt/ced
	mkdir -p "$ced/tests" "$ced/source/tests"
	find "$CED_BUILD/tests" -maxdepth 1 -type f -executable -exec cp -t "$ced/tests" {} +
	cp -r "$CED_SOURCE"/tests/{scenario,jail,vm,unit,cases} "$ced/source/tests/"
	cp -r "$CED_SOURCE/examples" "$ced/source/"
}

# --- power ---------------------------------------------------------------------------------------

# The first boot unpacks what goes along, which is the second disk: a tar and nothing else.
vm_boot() {
	local started=$SECONDS
	rm -f "$vm_folder"/agent.{in,out}
	mkfifo "$vm_folder"/agent.{in,out}
	exec {vm_in}<>"$vm_folder/agent.in" {vm_out}<>"$vm_folder/agent.out"
	[[ -f $vm_folder/payload.tar ]] ||
		tar -C "$vm_payload" --owner=root --group=root -cf "$vm_folder/payload.tar" .
	timeout --signal=KILL "$vm_life_s" qemu-system-x86_64 -machine q35,accel=tcg -cpu max \
		-smp 2 -m 2048 -display none -no-reboot -nic none -pidfile "$vm_folder/pid" \
		-kernel "$vm_image/vmlinuz" -initrd "$vm_image/initrd" \
		-append "root=/dev/vda rw console=ttyS0 quiet systemd.show_status=0" \
		-drive "file=$vm_folder/disk,format=raw,if=virtio" \
		-drive "file=$vm_folder/payload.tar,format=raw,if=virtio,readonly=on" \
		-serial "file:$vm_folder/console" \
		-device virtio-serial -chardev "pipe,id=agent,path=$vm_folder/agent" \
		-device virtserialport,chardev=agent,name=ced.agent \
		>"$vm_folder/qemu.log" 2>&1 </dev/null {vm_in}>&- {vm_out}>&- &
	vm_job=$!
	vm_until=$((SECONDS + vm_boot_s)) vm_said=
	if vm_read || [[ $vm_status != 0 ]]; then
		vm_bail "the guest did not come up"
	fi
	diag "up after $((SECONDS - started)) s"
	vm_run '[[ -e /opt/ced/unpacked ]] || {
		tar -C / --no-overwrite-dir -xf /dev/vdb && mkdir -p /opt/ced && : >/opt/ced/unpacked; }' ||
		bail "the guest did not unpack what goes along"
}

# What was not written to its disk is gone.  Prints the lines that it had said before.
vm_power_cut() {
	local more
	[[ -n $vm_job ]] || return 0
	kill -KILL "$(cat "$vm_folder/pid")" 2>/dev/null
	wait "$vm_job" 2>/dev/null
	vm_job=
	while IFS= read -r -t 0.1 more <&"$vm_out"; do
		vm_said+=$more
		printf '%s\n' "${vm_said#?}"
		vm_said=
	done
	exec {vm_in}>&- {vm_out}>&-
}

# shellcheck disable=SC2317 # called by the trap
vm_leave() {
	local status=$?
	vm_power_cut >/dev/null
	(exit "$status")
	ced_leave
}
trap vm_leave EXIT

vm_bail() {
	diag "$(tail -n 20 "$vm_folder/console" "$vm_folder/qemu.log" 2>/dev/null)"
	bail "$1"
}

# --- commands ------------------------------------------------------------------------------------

# vm_begin COMMAND [SECONDS]: a script for bash; what it says is read by vm_read.
vm_begin() {
	vm_until=$((SECONDS + ${2:-300})) vm_said=
	base64 --wrap=0 <<<"$1" >&"$vm_in"
	echo >&"$vm_in"
}

# The next line is in $vm_line; 1: there is none any more, and the exit status is in $vm_status.
vm_read() {
	local more
	while ! IFS= read -r -t 1 more <&"$vm_out"; do
		vm_said+=$more
		kill -0 "$vm_job" 2>/dev/null || vm_bail "the emulator is gone"
		((SECONDS < vm_until)) || vm_bail "the guest took too long"
	done
	vm_said+=$more
	vm_line=${vm_said#?}
	vm_status=
	[[ $vm_said == ' '* ]] || vm_status=$vm_line
	vm_said=
	[[ -z $vm_status ]]
}

# vm_run COMMAND [SECONDS]: prints what it prints, returns what it returns.
vm_run() {
	vm_begin "$@"
	while vm_read; do
		printf '%s\n' "$vm_line"
	done
	return "$vm_status"
}

# vm_tap NAME COMMAND [SECONDS]: a test in the guest.  One that is skipped there as a whole has
# failed, because a stock machine gives all that it needs.
vm_tap() {
	local name=$1 seen=$ced_count failed=$ced_failed started=$SECONDS
	shift
	vm_begin "$@"
	while vm_read; do
		case $vm_line in
		'ok '*) ok 0 "$name: ${vm_line#ok * - }" ;;
		'not ok '*) ok 1 "$name: ${vm_line#not ok * - }" ;;
		'1..0 # SKIP'*) ok 1 "$name: skipped, ${vm_line#*SKIP }" ;;
		1..[0-9]*) ;;
		*) diag "${vm_line#\# }" ;;
		esac
	done
	[[ $seen -lt $ced_count ]] && [[ $vm_status == 0 || $failed -lt $ced_failed ]]
	ok $? "$name: came to its end"
	diag "exit status $vm_status, $((SECONDS - started)) s"
}
