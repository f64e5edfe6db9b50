# Sourced by tests of packages.
# shellcheck shell=bash

# older_package FILE FOLDER VERSION OLDER: the same package in FOLDER, as if its version were OLDER.
older_package() {
	local root
	root=$(mktemp -d "${TMPDIR:-/tmp}/ced-older.XXXXXX")
	dpkg-deb --raw-extract "$1" "$root/tree" &&
		sed -i "s/^Version: $3\$/Version: $4/; s/(= $3)/(= $4)/g" "$root/tree/DEBIAN/control" &&
		dpkg-deb --root-owner-group -Zgzip -z1 --build "$root/tree" "$2"
	set -- $?
	rm -rf "$root"
	return "$1"
}
