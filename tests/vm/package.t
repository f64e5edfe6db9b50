#!/bin/bash
# The Debian packages on a stock machine: installed as a user would, up by the socket, used, restarted,
# upgraded, removed and purged.
. "$(dirname "$0")/lib.sh"
. "$here/../scenario/older_package.sh"
for tool in cpack dpkg-shlibdeps file; do
	command -v "$tool" >/dev/null || skip_all "$tool is not installed: ./dev setup package"
done
vm_prepare
version=$("$vm_release/bin/cectl" --version | cut -d ' ' -f 2)
cmake --build "$vm_release" --target package_parts >"$vm_folder/log" 2>&1 || bail "$(tail -n 5 "$vm_folder/log")"
(umask 022 && cd "$vm_release" && cpack -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip -B "$vm_folder/packages") \
	>"$vm_folder/log" 2>&1 || bail "cpack: $(tail -n 5 "$vm_folder/log")"
mkdir -p "$vm_payload/opt/packages/$version" "$vm_payload/opt/packages/0.0.1"
for package in "$vm_folder"/packages/{ced,cectl,python3-ced}_*.deb; do
	cp "$package" "$vm_payload/opt/packages/$version/"
	older_package "$package" "$vm_payload/opt/packages/0.0.1" "$version" 0.0.1 >"$vm_folder/log" 2>&1 ||
		bail "dpkg-deb: $(tail -n 3 "$vm_folder/log")"
done
install -D -t "$vm_payload/opt" "$here/guest.sh" "$here/package-guest.sh"
vm_boot
vm_tap package "bash /opt/package-guest.sh $version" 2200
done_testing
