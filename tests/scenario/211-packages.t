#!/bin/bash
# The Debian packages, from this build: what is in them, what lintian says, and that the same source gives
# the same bytes.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
for tool in cpack dpkg-deb dpkg-shlibdeps file lintian; do
	command -v "$tool" >/dev/null || skip_all "$tool is not installed: ./dev setup package test"
done
export SOURCE_DATE_EPOCH=1700000000
umask 022
cmake --build "$CED_BUILD" --target package_parts >"$work/log" 2>&1
ok $? "the parts of packages are built" "$(tail -n 5 "$work/log")"
for name in a b; do
	(cd "$CED_BUILD" && cpack -B "$work/$name") >"$work/log" 2>&1
	ok $? "cpack makes the packages" "$(tail -n 5 "$work/log")"
	rm -rf "$work/$name/_CPack_Packages"
done
is "$(cd "$work/a" && sha256sum ./*.deb)" "$(cd "$work/b" && sha256sum ./*.deb)" "twice the same bytes"
names=$(cd "$work/a" && for file in *.deb; do echo "${file%%_*}"; done | paste -sd' ')
is "$names" "cectl ced node-ced python3-ced" "four packages"

is "$(lintian --fail-on none "$work"/a/*.deb 2>&1 |
	grep -E '^[EW]:')" "" "lintian has nothing to say about them"

contents() {
	dpkg-deb -c "$work/a/$1"_* | awk '{ sub("^[.]", "", $6); print $6 }'
}
for name in ced cectl python3-ced node-ced; do
	dpkg-deb -x "$work/a/$name"_* "$work/root"
done
like "$(contents ced)" '/usr/lib/systemd/system/ced.service' "the unit is in ced"
like "$(contents ced)" '/usr/share/man/man5/ced.conf.5.gz' "with the manual pages of its files"
like "$(contents ced)" '/usr/share/doc/ced/docs/guide/' "and the guide"
like "$(contents cectl)" '/usr/share/man/man1/cectl-run.1.gz' "those of commands are in cectl"
unlike "$(contents ced)" 'node_modules|/usr/local|__pycache__' "nothing of npm, of /usr/local, of Python's cache"
is "$(contents ced | sort >"$work/1"; contents cectl | sort | comm -12 "$work/1" - | grep -v '/$')" "" \
	"no file is in two packages"
like "$(grep ExecStart= "$work/root/usr/lib/systemd/system/ced.service")" \
	'/usr/bin/ced-spawner .*--libexec /usr/libexec/ced -- .*--config /etc/ced' "the unit names installed places"
like "$(dpkg-deb -f "$work"/a/ced_* Depends)" 'cectl \(= .*libc6 .*libseccomp2' "libraries and cectl are dependencies"
is "$(dpkg-deb -I "$work"/a/ced_* conffiles)" /etc/ced/ced.conf "the settings are a conffile"

# The clients, from the packages alone.
is "$(cd / && PYTHONPATH=$work/root/usr/lib/python3/dist-packages /usr/bin/python3 -B -c '
import importlib.metadata, ced; print(importlib.metadata.version("ced"), ced.Client.__name__)')" \
	"$(cectl --version | cut -d ' ' -f 2) Client" "Python finds its client, with its version"
mkdir -p "$work/app/node_modules"
ln -s "$work/root/usr/share/nodejs/ced" "$work/app/node_modules/ced"
is "$(cd "$work/app" && node -e 'console.log(typeof require("ced").Client)' 2>&1)" function "node finds its own"

for script in "$CED_SOURCE"/packaging/{ced,python3-ced}/p*; do
	dash -n "$script"
	ok $? "a plain shell reads ${script##*/packaging/}"
done
done_testing
