#!/bin/bash
# Package sets that are made to do harm, and programs that attack a set.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/packages.sh"

# made NAME: a set with one module.
made() {
	mkdir -p "$sets/$1/greet"
	echo 'x = 1' >"$sets/$1/greet/__init__.py"
}

# --- sets that cannot be used ------------------------------------------------------------------

zero=sha256:$(printf '0%.0s' {1..64})
# bad NAME: the section of a set that has no digest.
bad() {
	printf 'packages %s { runtime = "python" path = "%s" digest = "%s" }\n' "$1" "$sets/$1" "$zero" >>"$conf"
}
for name in setuid fifo closed out chain missing; do made "$name"; done
cp /usr/bin/true "$sets/setuid/run" && chmod 4755 "$sets/setuid/run"
mkfifo "$sets/fifo/pipe"
echo secret >"$sets/closed/key" && chmod 000 "$sets/closed/key"
ln -s ../../state "$sets/out/link"
ln -s . "$sets/chain/greet/here" && ln -s greet/here/../../.. "$sets/chain/link"
rm -rf "$sets/missing"
for name in setuid fifo closed out chain missing; do bad "$name"; done
if [[ $(id -u) == 0 ]]; then
	made device && mknod "$sets/device/null" c 1 3 && chmod 666 "$sets/device/null"
	bad device
fi

# --- wheels that want their code run ----------------------------------------------------------------

# source NAME: an archive that must be built, with all that this needs: its code leaves a mark.
source_of() {
	/usr/bin/python3 - "$work" "$1" <<'PYTHON'
import io
import sys
import tarfile

work, name = sys.argv[1:]
files = {
    "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "mark"\nbackend-path = ["."]\n'
                      f'[project]\nname = "{name}"\nversion = "1.0"\n',
    "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
    "setup.py": f'open("{work}/mark", "w")\n',
    "mark.py": f'open("{work}/mark", "w")\n',
}
with tarfile.open(f"{work}/wheels/{name}-1.0.tar.gz", "w:gz") as archive:
    for path, text in files.items():
        entry = tarfile.TarInfo(f"{name}-1.0/{path}")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text.encode()))
PYTHON
}
if /usr/bin/python3 -I -m pip --version >/dev/null 2>&1; then
	mkdir wheels other
	source_of evil
	wheel other far 1.0 'x = 1'
	/usr/bin/python3 -m http.server --bind 127.0.0.1 --directory other 0 >served 2>&1 &
	server=$!
	for ((tries = 0; tries < 600; tries++)); do
		grep -q 'port [0-9]' served && break
		sleep 0.1
	done
	port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' served)
	wheel wheels asks 1.0 'x = 1' "evil @ file://$work/wheels/evil-1.0.tar.gz"
	wheel wheels clones 1.0 'x = 1' "evil @ git+file://$work/wheels"
	wheel wheels fetches 1.0 'x = 1' "far @ http://127.0.0.1:$port/far-1.0-py3-none-any.whl"
	wheel wheels plain 1.0 'x = 1'
	# refused WHY OPERAND [OPTION...]
	refused() {
		exits 1 "a wheel that requires $1 makes no set" \
			cectl packages add bad --runtime python --wheels wheels --to "$sets" "${@:3}"
		like "$err" "$2" "which is told"
	}
	refused 'a package that must be built' 'which runs its code: --source allows' asks
	refused 'a repository' 'could not build the set' clones
	refused 'a package in a network' 'is somewhere else than in --wheels' fetches
	ok "$([[ ! -e mark ]]; echo $?)" "no code of a package has run"
	unlike "$(cat served)" 'GET' "and nothing was asked of a network"
	exits 1 "with an index it is not built either" \
		cectl packages add bad --runtime python --index "http://127.0.0.1:$port/" --to "$sets" wheels/asks-1.0-py3-none-any.whl
	ok "$([[ ! -e mark ]]; echo $?)" "and runs no code"
	exits 0 "a wheel that requires nothing makes one" \
		cectl packages add plain --runtime python --wheels wheels --to "$sets" plain
	exits 1 "with --source the package is built, as its administrator wishes" \
		cectl packages add bad --source --runtime python --wheels wheels --to "$sets" asks
	ok "$([[ -e mark ]]; echo $?)" "and its code runs"
	kill "$server"
fi

# --- sets that can -----------------------------------------------------------------------------

made good
printf 'import os; os.write(2, b"PTH RAN")\n' >"$sets/good/evil.pth"
printf 'import os\nos.write(2, b"SITE RAN\\n")\n' | tee "$sets/good/sitecustomize.py" >"$sets/good/usercustomize.py"
set_add good python
made changing
set_add changing python
mkdir -p "$sets/mods/node_modules/left"
echo 'module.exports = 1' >"$sets/mods/node_modules/left/index.js"
set_add mods javascript
mkdir -p "$sets/shell/bin"
set_add shell bash 'tools = true'
made big
/usr/bin/python3 - "$sets/big" <<'PYTHON'
import os
import sys

for folder in range(50):
    os.mkdir(f"{sys.argv[1]}/d{folder}")
    for name in range(1000):
        os.close(os.open(f"{sys.argv[1]}/d{folder}/m{name}.py", os.O_WRONLY | os.O_CREAT, 0o644))
PYTHON
set_add big python
echo 'packages_check_ms = 1s' >>"$conf"

ced=$(ced_programs)/libexec/ced/ced
sed "s|$sets/good|/var/lib/sets|" "$conf" >var.conf
sed 's|packages good|packages ../good|' "$conf" >dots.conf
exits 1 "a set in a place that no jail may see is refused at the start" "$ced" --check-config var.conf
like "$err" 'packages good: "/var/lib/sets" cannot be in a jail' "by name"
exits 1 "and so is a name with .." "$ced" --check-config dots.conf
like "$err" 'packages ../good: a name has' "which is told"

ced_arguments=(--config "$conf")
daemon_start
is "$(cectl run -c 'print("up")')" up "while 50,000 files are read, the daemon answers"
is "$(set_state good)" ready "a set is ready"
is "$(set_state big)" ready "one with 50,000 files, too"

# off NAME WHY
off() {
	like "$(set_state "$1")" "^off .*$2" "a set with $3 is off"
	exits 126 "and no run can name it" cectl run --packages "$1" -c 1
}
off setuid 'run: has the setuid' 'a setuid file'
off fifo 'pipe: is neither file nor folder' 'a FIFO'
off closed 'key: is not readable for all' 'a file of mode 000'
off out 'link: is a link that leads out' 'a link that leads out'
off chain 'link: is a link that leads out' 'a link that leads out through another'
off missing 'No such file' 'no folder'
[[ $(id -u) != 0 ]] || off device 'null: is neither file nor folder' 'a device'
for name in '..' '../good' 'good/..' 'good/greet' '.' '/sets/good' 'GOOD' $'good\n'; do
	exits 126 "the name $(printf %q "$name") is refused" cectl run --packages "$name" -c 1
done
exits 126 "a set of another runtime is refused" cectl run -l bash --packages good -c 1

# --- what programs try -------------------------------------------------------------------------

before=$(digest_of "$sets/good")$(digest_of "$sets/mods")
exits 0 "a program attacks its set" cectl run --json --packages good -c '
import os

place = "/sets/good"
tries = {
    "write": lambda: open(place + "/new.py", "w"),
    "append": lambda: open(place + "/greet/__init__.py", "a"),
    "unlink": lambda: os.unlink(place + "/greet/__init__.py"),
    "rename": lambda: os.rename(place + "/greet", place + "/other"),
    "move out": lambda: os.rename(place + "/greet", "/work/greet"),
    "chmod": lambda: os.chmod(place + "/greet/__init__.py", 0o777),
    "utime": lambda: os.utime(place + "/greet/__init__.py"),
    "mkdir": lambda: os.mkdir(place + "/folder"),
    "rmdir": lambda: os.rmdir(place),
    "truncate": lambda: os.truncate(place + "/greet/__init__.py", 0),
    "another set": lambda: os.mkdir("/sets/mine"),
    "hard link": lambda: os.link(place + "/greet/__init__.py", "/work/linked.py"),
    "link": lambda: os.symlink(place, "/work/link"),
    "mount": lambda: open("/sets/../etc/shadow"),
}
done = []
for name, attempt in tries.items():
    try:
        attempt()
        done.append(name)
    except OSError:
        pass
print(done, sorted(os.listdir("/sets")) , os.listdir("/work"))'
like "$(json "$out" "it['stdout']")" "^\[\] .*'good'.* \['main.py'\]" "nothing of it works"
unlike "$(json "$out" "it['stderr']")" RAN "no .pth, sitecustomize or usercustomize of a set is executed"
exits 0 "a set's program with a setuid bit" cectl run --json -c '
import os
print(os.statvfs("/sets/good").f_flag & (os.ST_NOSUID | os.ST_NODEV | os.ST_RDONLY) == os.ST_NOSUID | os.ST_NODEV | os.ST_RDONLY)'
is "$(json "$out" "it['stdout'].strip()")" True "would gain nothing: sets are mounted nosuid, nodev, read-only"
exits 1 "a link that leads out shows the jail's own files" cectl run -c 'open("/sets/out/link/ced.db")'
like "$err" 'FileNotFoundError|PermissionError' "and none of the host's"
exits 0 "bash attacks, too" cectl run -l bash --packages shell -c '
{ echo x >/sets/shell/bin/ls; ln /sets/shell/bin bin; ln -s /sets/shell s; rm -rf /sets/shell; } 2>/dev/null
ls -d /sets/shell/bin'
is "$out" /sets/shell/bin "without effect"

if [[ -x /usr/bin/node ]]; then
	exits 0 "a node program attacks through its link" cectl run --json -l javascript --packages mods --trace-files -a '**' -c '
const fs = require("fs");
const done = [];
const attempt = (name, call) => { try { call(); done.push(name); } catch {} };
attempt("write", () => fs.writeFileSync("/work/node_modules/new.js", "x"));
attempt("append", () => fs.appendFileSync("/work/node_modules/left/index.js", "x"));
attempt("unlink", () => fs.unlinkSync("/work/node_modules/left/index.js"));
attempt("link", () => fs.linkSync("/work/node_modules/left/index.js", "/work/l.js"));
attempt("symlink", () => fs.symlinkSync("/", "/work/node_modules/root"));
attempt("move", () => fs.renameSync("/work/node_modules", "/work/a"));
fs.readFileSync("/work/node_modules/left/index.js");
console.log(done, require("left"));
fs.rmSync("/work/node_modules", { recursive: true });
console.log(fs.readdirSync("/work"));'
	is "$(json "$out" "it['stdout']")" $'[] 1\n[ \'main.js\' ]' "it can remove the link and nothing behind it"
	unlike "$(json "$out" "it['files']")" 'index.js|sets' "what is opened behind the link is not told"
	is "$(cectl run -l javascript --packages mods -c 'console.log(require("left"))')" 1 "the next run has the set"
fi
is "$(digest_of "$sets/good")$(digest_of "$sets/mods")" "$before" "the sets are as they were"

# --- a set that changes ------------------------------------------------------------------------

exits 0 "a set is used" cectl run --packages changing -c 'import greet; print(greet.x)'
echo 'x = 2' >"$sets/changing/greet/__init__.py"
for ((tries = 0; tries < 1800; tries++)); do
	[[ $(set_state changing) == off* ]] && break
	sleep 0.1
done
like "$(set_state changing)" '^off its files have changed' "a later check finds that it was changed"
exits 126 "and runs cannot name it any more" cectl run --packages changing -c 1
echo 'x = 1' >"$sets/changing/greet/__init__.py"
for ((tries = 0; tries < 1800; tries++)); do
	[[ $(set_state changing) == ready ]] && break
	sleep 0.1
done
is "$(set_state changing)" ready "it is ready again when it is what it was"

like "$(grep -c 'packages.off' "$ced_log")" '^[1-9]$' "the log tells each fault once"
done_testing
