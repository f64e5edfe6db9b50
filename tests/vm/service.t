# The host service on a stock Debian 12: installed, started by systemd, used, hardened, removed.
# TAP.  As vm/spawner.t: makes an image, boots it in an emulator, passes on what the guest writes
# to its second serial line.  vm/service-guest.sh is what runs inside.

set -u
here=$CED_SOURCE/tests/vm
for tool in qemu-system-x86_64 mmdebstrap mke2fs; do
	command -v "$tool" >/dev/null || { echo "1..0 # SKIP no $tool here"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "1..0 # SKIP only root makes the image here"; exit 77; }

dir=$(mktemp -d /tmp/ced-vm.XXXXXX)
trap 'rm -rf "$dir"' EXIT
packages=systemd,systemd-sysv,dbus,udev,linux-image-cloud-amd64,python3,libseccomp2,libcap-ng0
packages+=,libuv1,libsqlite3-0,libzstd1,libjansson4,libpcre2-8-0,libsodium23,libconfuse2
packages+=,libsystemd0,libutf8proc2,procps,util-linux,findutils,sqlite3
if ! mmdebstrap --variant=minbase --include="$packages" bookworm "$dir/root.tar" >"$dir/log" 2>&1; then
	tail -3 "$dir/log" | sed 's/^/# /'
	echo "1..0 # SKIP no Debian packages to be had"
	exit 77
fi

root=$dir/root
mkdir "$root"
tar -C "$root" -xf "$dir/root.tar"
DESTDIR=$root cmake --install "$CED_BUILD" >"$dir/log" 2>&1 || { sed 's/^/# /' "$dir/log"; exit 1; }
install -D "$here/service-guest.sh" "$root/opt/guest.sh"
cat >"$root/etc/systemd/system/guest.service" <<'END'
[Unit]
After=multi-user.target dbus.service
[Service]
Type=oneshot
ExecStart=/bin/bash /opt/guest.sh
ExecStopPost=/bin/systemctl poweroff -ff
TimeoutStartSec=1200
END
ln -s ../guest.service "$root/etc/systemd/system/multi-user.target.wants/"
mke2fs -q -t ext4 -d "$root" "$dir/disk" 1500M || exit 1

timeout 1300 qemu-system-x86_64 -machine q35,accel=tcg -cpu max -smp 2 -m 2048 -display none \
	-no-reboot -kernel "$root"/boot/vmlinuz-* -initrd "$root"/boot/initrd.img-* \
	-drive "file=$dir/disk,format=raw,if=virtio" \
	-append "root=/dev/vda rw console=ttyS0 quiet systemd.show_status=0" \
	-serial "file:$dir/console" -serial "file:$dir/out"
cat "$dir/out"
if ! grep -q '^1\.\.' "$dir/out"; then
	tail -20 "$dir/console" | sed 's/^/# /'
	echo "not ok - the guest came to its end"
	exit 1
fi
! grep -q '^not ok' "$dir/out"
