# Sourced by the tests of zygotes, slots and workers: runs a Python test of this folder.
#
#   warm_run warm_ends.py [user]
#
# `user`: as an ordinary user, who root becomes.  Everything is copied to where every user can read
# it, wherever the checkout lies.
# shellcheck shell=bash
set -u

warm_run() { # script, who
	local as=() python=/usr/bin/python3 filter=$CED_BUILD/tests/base_filter
	local extension=$CED_LIBEXEC/python/_ced.abi3.so
	if [ ! -e "$extension" ] || [ ! -x "$filter" ]; then
		echo "1..0 # SKIP the extension is not built"
		exit 77
	fi
	if nm -D "$extension" | grep -q __asan_init; then
		echo "1..0 # SKIP an interpreter without the sanitizer cannot load the extension"
		exit 77
	fi
	dir=$(mktemp -d /tmp/ced-warm.XXXXXX)
	trap 'rm -rf "$dir"' EXIT
	mkdir "$dir/libexec"
	cp -r "$CED_LIBEXEC/python" "$dir/libexec/"
	cp "$CED_SOURCE"/tests/jail/*.py "$dir/"
	"$filter" >"$dir/filter" || exit 1
	chmod -R a+rX "$dir"
	[ "${2-}" = user ] && [ "$(id -u)" -eq 0 ] && as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	if ! "${as[@]}" unshare --user --map-root-user --net true 2>/dev/null; then
		echo "1..0 # SKIP this user may make no namespaces here"
		exit 77
	fi
	export CED_LIBEXEC=$dir/libexec CED_BASE_FILTER=$dir/filter
	"${as[@]}" "$python" -B "$dir/$1"
}
