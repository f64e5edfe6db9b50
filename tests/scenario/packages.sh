# Sourced by the scenarios of package sets: wheels and tarballs made by hand, and their settings.
# shellcheck shell=bash
# shellcheck disable=SC2154 # work and ced_folder are those of lib.sh
sets=$ced_folder/sets
conf=$ced_folder/packages.conf
mkdir -m 755 "$sets"
[[ $(id -u) == 0 ]] || echo 'cgroups = "auto"' >"$conf"

# wheel FOLDER NAME VERSION MODULE-TEXT [REQUIREMENT]: a wheel is a zip with a module and three files about it.
wheel() {
	/usr/bin/python3 - "$@" <<'PYTHON'
import sys
import zipfile

folder, name, version, text = sys.argv[1:5]
needs = "".join(f"Requires-Dist: {requirement}\n" for requirement in sys.argv[5:])
about = f"{name}-{version}.dist-info"
files = {
    f"{name}/__init__.py": text,
    f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
    f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}
with zipfile.ZipFile(f"{folder}/{name}-{version}-py3-none-any.whl", "w") as wheel:
    for path, content in files.items():
        wheel.writestr(path, content)
    wheel.writestr(f"{about}/RECORD", "".join(f"{path},,\n" for path in [*files, f"{about}/RECORD"]))
PYTHON
}

# digest_of FOLDER: what docs/operations/packages.md says that a digest is, computed without ced.
digest_of() {
	/usr/bin/python3 - "$1" <<'PYTHON'
import hashlib
import os
import stat
import struct
import sys

root = os.fsencode(sys.argv[1])
whole = hashlib.sha256(b"ced packages 1\n")


def add(kind, path, mode, size, content):
    whole.update(kind + struct.pack("<Q", len(path)) + path + struct.pack("<QQ", mode, size) + content)


def walk(folder, above):
    for name in sorted(os.listdir(folder)):
        path, full = above + name, folder + b"/" + name
        about = os.lstat(full)
        mode = stat.S_IMODE(about.st_mode)
        if stat.S_ISLNK(about.st_mode):
            add(b"l", path, 0, about.st_size, hashlib.sha256(os.readlink(full)).digest())
        elif stat.S_ISDIR(about.st_mode):
            add(b"d", path, mode, 0, bytes(32))
            walk(full, path + b"/")
        else:
            with open(full, "rb") as file:
                add(b"f", path, mode, about.st_size, hashlib.sha256(file.read()).digest())


walk(root, b"")
print("sha256:" + whole.hexdigest())
PYTHON
}

# set_add NAME RUNTIME [MORE]: the section of a folder that is there.
set_add() {
	chmod -R a+rX,go-w "$sets/$1" 2>/dev/null
	printf 'packages %s { runtime = "%s" path = "%s" digest = "%s" %s }\n' \
		"$1" "$2" "$sets/$1" "$(digest_of "$sets/$1")" "${3:-}" >>"$conf"
}

# set_state NAME: waits until the daemon has looked at all sets; prints the state and the reason.
set_state() {
	local tries list
	for ((tries = 0; tries < 1800; tries++)); do
		list=$(cectl packages list --json)
		[[ $list == *'"checking"'* ]] || break
		sleep 0.1
	done
	json "$list" "' '.join(str(s[k]) for s in it['packages'] if s['name'] == '$1' for k in ('state', 'why') if s[k])"
}
