#!/bin/bash
# fetch-npm.sh PINS TARGET FILE...: brings what PINS/package-lock.json names into TARGET.
#
# Several build trees may share TARGET: one fetches, the others wait for it and find it done.
# The stamp is the digest of the pins, and it is written last; what is older is fetched again.
# npm's cache and logs stay in TARGET too, so a home that cannot be written to does no harm.
set -euo pipefail

pins=$1
target=$2
shift 2

mkdir -p "$target"
exec 9>"$target/lock"
flock 9

digest=$(cat "$pins/package.json" "$pins/package-lock.json" | sha256sum)
if [ "$digest" != "$(cat "$target/stamp" 2>/dev/null || true)" ] || ! ls "$@" >/dev/null 2>&1; then
	rm -f "$target/stamp"
	cp "$pins/package.json" "$pins/package-lock.json" "$target/"
	npm ci --prefix "$target" --cache "$target/npm-cache" --ignore-scripts \
		--no-audit --no-fund --no-update-notifier --loglevel=error
	ls "$@" >/dev/null
	echo "$digest" >"$target/stamp"
fi

# The build tool goes by times: every file must be younger than the pins, and files that already
# are stay untouched, so that other build trees do not compile them again.
for file in "$@"; do
	if [ "$file" -ot "$pins/package-lock.json" ] || [ "$file" -ot "$pins/package.json" ] ||
		[ "$file" -ot "${BASH_SOURCE[0]}" ]; then
		touch "$file"
	fi
done
