#!/bin/bash
# shellcheck disable=SC2016 # programs stand in single quotes
# Package sets: built by cectl, named by runs of Python, JavaScript and bash, and kept in the record.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/packages.sh"

# --- building ----------------------------------------------------------------------------------

mkdir wheels tarballs
wheel wheels greet 1.0 $'def hi():\n    return "hello from the set"\n'
wheel wheels uuid 9.0 $'mine = True\n'
has_pip=$(/usr/bin/python3 -I -m pip --version >/dev/null 2>&1 && echo yes)

if [[ $has_pip ]]; then
	exits 0 "packages add builds a set from a folder of wheels" \
		cectl packages add data2024 --runtime python --wheels wheels --to "$sets" greet uuid==9.0
	like "$out" "^packages data2024 \{.*runtime = \"python\".*path += \"$sets/data2024\".*digest += \"sha256:[0-9a-f]{64}\"" \
		"and prints the section for the configuration"
	printf '%s\n' "$out" >>"$conf"
	is "$(sed -n 's/.*digest *= "\(.*\)"/\1/p' <<<"$out")" "$(digest_of "$sets/data2024")" \
		"its digest is that of another program"
	exits 1 "a set that is there is not replaced" \
		cectl packages add data2024 --runtime python --wheels wheels --to "$sets" greet
	echo 'greet' >list.txt
	exits 0 "a file of requirements makes a set, too" \
		cectl packages add second --json --runtime python --wheels wheels --to "$sets" list.txt
	is "$(json "$out" "it['name'] + ' ' + it['runtime'] + ' ' + it['path']")" "second python $sets/second" \
		"--json tells what was built"
	exits 1 "a package that is not there is an error" \
		cectl packages add third --runtime python --wheels wheels --to "$sets" absent
	like "$err" 'pip could not build the set: .*absent' "with the words of pip"
	is "$(ls -A "$sets")" $'data2024\nsecond' "and leaves nothing behind"
else
	diag "SKIP: this host has no pip, so the sets are made by hand"
	for name in data2024 second; do
		mkdir "$sets/$name"
		(cd "$sets/$name" && /usr/bin/python3 -m zipfile -e "$work/wheels/greet-1.0-py3-none-any.whl" .)
	done
	(cd "$sets/data2024" && /usr/bin/python3 -m zipfile -e "$work/wheels/uuid-9.0-py3-none-any.whl" .)
	set_add data2024 python
fi
exits 2 "a name with .. is refused" cectl packages add ../x --runtime python --wheels wheels greet
exits 2 "a set needs a place that its packages come from" cectl packages add x --runtime python greet
exits 1 "a set without its folder is not built" \
	cectl packages add x --runtime python --wheels wheels --to "$work/no/sets" greet
like "$err" "folder for package sets, $work/no/sets, does not exist: make it with .mkdir -p $work/no/sets., or name another one with --to" \
	"and what to type is said"
exits 2 "nor one from a folder of wheels that is not there" \
	cectl packages add x --runtime python --wheels no-wheels --to "$sets" greet
like "$err" '--wheels: the folder no-wheels does not exist' "which is said, too"

exits 2 "pip builds no set for bash" cectl packages add x --runtime bash --wheels wheels --to "$sets" greet
like "$err" 'for it: make a folder with a folder bin yourself, and use .cectl packages digest' "what to do is said"
exits 1 "what is no folder" cectl packages digest "$work/nope"
like "$err" "$work/nope cannot be a package set: .*No such file" "is named"

# The second set has a module of the same name, and files that a site directory would execute.
printf 'def hi():\n    return "second"\n\n\nonly = 2\n' >"$sets/second/greet/__init__.py"
rm -rf "$sets/second/greet/__pycache__"
echo 'import os; os.write(2, b"PTH RAN")' >"$sets/second/evil.pth"
set_add second python

mkdir -p tarballs/package
echo '{"name":"left","version":"1.0.0","exports":{"import":"./m.mjs","require":"./c.cjs"}}' >tarballs/package/package.json
echo 'export const side = "left by import";' >tarballs/package/m.mjs
echo 'exports.side = "left by require";' >tarballs/package/c.cjs
has_node=$([[ -x /usr/bin/node ]] && echo yes)
if [[ $has_node ]]; then
	if command -v npm >/dev/null; then
		tar -C tarballs -czf tarballs/left-1.0.0.tgz package
		exits 0 "npm builds a set from a tarball" env "npm_config_cache=$work/npm" \
			cectl packages add mods --runtime javascript --wheels tarballs --to "$sets" left-1.0.0.tgz
		printf '%s\n' "$out" >>"$conf"
	else
		mkdir -p "$sets/mods/node_modules"
		cp -r tarballs/package "$sets/mods/node_modules/left"
		set_add mods javascript
	fi
fi
mkdir -p "$sets/tools/bin" "$sets/plain/bin"
printf '#!/bin/sh\necho "tool: $*"\n' | tee "$sets/tools/bin/mytool" >"$sets/plain/bin/other"
chmod 755 "$sets"/*/bin/*
set_add tools bash 'tools = true'
set_add plain bash

is "$(cectl packages digest "$sets/tools")" "$(digest_of "$sets/tools")" "packages digest prints a folder's digest"

# --- using -------------------------------------------------------------------------------------

ced_arguments=(--config "$conf")
daemon_start
is "$(set_state data2024)" ready "a set with its digest is ready"

both='{"name": "data2024", "digest": "'$(digest_of "$sets/data2024")'"}'
exits 0 "a program imports a module of a set" cectl run --json --packages data2024 -c '
import sys
import greet
print(greet.hi(), sys.path[:2], greet.__file__)'
is "$(json "$out" "it['stdout'].strip()")" \
	"hello from the set ['/work', '/sets/data2024'] /sets/data2024/greet/__init__.py" \
	"the set is behind the job's folder"
is "$(json "$out" "it['runtime']['packages']")" "[$both]" "the result names the set and its digest"
run=$(json "$out" "it['run_id']")

exits 0 "a run without sets" cectl run --json -c 'import uuid; print(uuid.uuid5, "greet" in globals())'
is "$(json "$out" "it['runtime'].get('packages')")" None "has none in its result"
exits 1 "and cannot import from one" cectl run -c 'import greet'
like "$err" 'the package set data2024 has greet: run it with packages \["data2024"\]' "and is told which set has the module"
like "$(cectl explain last | tr -s ' \n' ' ')" 'run it with packages \["data2024"\]' "by explain, too"
session=$(cectl session open)
exits 1 "nor can a cell" cectl run --session "$session" -c 'import greet'
like "$err" 'the package set data2024 has greet: open a session with packages \["data2024"\]' "and is told what it can do"
cectl session close "$session"
exits 1 "a submodule that no set has" cectl run --packages data2024 -c 'import greet.absent'
unlike "$err" 'the package set' "leads to no set"
is "$(cectl run --packages data2024 -c 'import uuid; print(uuid.mine)')" True \
	"a module of a set comes before one that was imported ahead"
is "$(cectl run --packages second --packages data2024 -c 'import greet; print(greet.hi())' 2>&1)" second \
	"sets come in the order of the request, and no .pth file is executed"
echo 'mine = "of the job"' >greet.py
is "$(cectl run --packages data2024 -f greet.py -c 'import greet; print(greet.mine)')" "of the job" \
	"a file of the job comes before a set"
is "$(cectl run --packages data2024 --deterministic -c 'import greet; print(greet.hi())')" "hello from the set" \
	"deterministic runs have sets, too"
is "$(cectl run --policy strict --packages data2024 -c 'import greet' 2>&1 | grep -c 'python.import.denied')" 1 \
	"a policy decides about the modules of a set as about all others"
before=$(digest_of "$sets/second")
is "$(cectl run --packages second -c '
import greet, importlib.util
spec = importlib.util.find_spec("greet")
import os
print(os.path.exists(spec.cached))')" False "no bytecode is written into a set"
is "$(digest_of "$sets/second")" "$before" "which stays as it was"
if [[ $has_pip ]]; then
	is "$(cectl run --packages data2024 -c '
import greet, os
print(os.path.exists(greet.__cached__), greet.hi.__code__.co_filename)')" "True /sets/data2024/greet/__init__.py" \
		"the bytecode of a set is there, and names the place in the jail"
fi

if [[ $has_node ]]; then
	is "$(cectl run -l javascript --packages mods -c 'console.log(require("left").side)')" "left by require" \
		"a script requires a module of a set"
	is "$(cectl run -l javascript --packages mods -c 'import { side } from "left"; console.log(side)')" \
		"left by import" "an ES module imports it"
	exits 0 "artifacts of such a run" cectl run --json -l javascript --packages mods -a '*' -a '**' -c '
require("fs").writeFileSync("out.txt", require("left").side)'
	is "$(json "$out" "[[a['path'] for a in it['artifacts'] if a['path'] != 'main.js'], it.get('artifacts_skipped') or []]")" \
		'[["out.txt"], []]' "do not mention the folder of modules"
	exits 126 "a job's own node_modules and a set exclude each other" \
		cectl run -l javascript --packages mods -f list.txt:node_modules/x/index.js -c 1
	like "$err" 'node_modules' "and the refusal says so"
fi

is "$(cectl run -l bash --packages tools --packages plain -c 'mytool a b; echo "$PATH"; type -t other || true')" \
	$'tool: a b\n/usr/local/bin:/usr/bin:/bin:/sets/tools/bin' \
	"bash finds the tools of a set that is listed as tools"
exits 127 "and only in runs that name it" cectl run -l bash -c mytool
is "$(cectl run -l bash --packages tools -e PATH=/usr/bin -c 'echo "$PATH"')" /usr/bin \
	"a PATH of the job's own stays as it is"

# --- refusing ----------------------------------------------------------------------------------

exits 126 "an unknown set is refused" cectl run --packages data2042 -c 1
like "$err" 'no package set "data2042".*data2024' "with the names that there are"
exits 126 "a set of another runtime is refused" cectl run --packages tools -c 1
like "$err" '"tools" is for bash.*data2024, second' "with those of this runtime"
exits 126 "a set twice is refused" cectl run --packages second --packages second -c 1
nine=()
for number in 1 2 3 4 5 6 7 8 9; do
	nine+=(--packages "a$number")
done
exits 126 "more than eight are refused" cectl run "${nine[@]}" -c 1
like "$(cectl check --json --packages nope -c 1)" '"/packages/0' "a check tells it, too"

# --- identity and record -----------------------------------------------------------------------

exits 0 "an action with an id" cectl run --id one --packages second -c 'print(1)'
exits 126 "is another one with another set" cectl run --id one --packages data2024 -c 'print(1)'
cectl run --cache use --packages second -c 'print(2)' >/dev/null
is "$(json "$(cectl run --json --cache use --packages second -c 'print(2)')" "it['cached']")" true \
	"a result is cached with its sets"
is "$(json "$(cectl run --json --cache use -c 'print(2)')" "it['cached']")" false "and is none of a run without them"
shown=$(cectl show --json "$run")
is "$(json "$shown" "it['request']['packages']")" '["data2024"]' "the record has the names"
is "$(json "$shown" "it['runtime']['packages']")" "[$both]" "and the digests"
for command in show trace; do
	like "$(cectl "$command" "$run")" "package sets.*data2024 +$(digest_of "$sets/data2024")" "cectl $command shows both"
done
like "$(cectl audit export | grep "$run")" '"packages": *\[.*data2024' "an export has them"
exits 0 "a replay has the same sets" cectl replay --json "$run"
is "$(json "$out" "[it['same'], it['result']['runtime']['packages'] == [$both]]")" '[true, true]' "and the same result"

# --- the administrator's view ------------------------------------------------------------------

exits 0 "packages list" cectl packages list
like "$out" "data2024 +python +ready" "shows runtime and state"
exits 0 "packages verify reads all files" cectl packages verify
exits 0 "cectl runtimes shows the sets" cectl runtimes
like "$out" 'package sets of python.*data2024 +ready' "by runtime"
exits 1 "there is no such set to verify" cectl packages verify nope
exits 2 "add takes a runtime that there is" cectl packages add x --runtime pythn --wheels wheels --to "$sets" greet
like "$err" 'no runtime "pythn" here; did you mean python\?; there are: python' "and says which"
mv "$sets/second/greet/__init__.py" "$work/kept"
exits 1 "packages verify finds what the daemon has not seen" cectl packages verify second
like "$out" 'has changed: sha256:.*the daemon has not seen this: runs still use the set' "and says that runs use it"
mv "$work/kept" "$sets/second/greet/__init__.py"
daemon_stop

echo 'changed = True' >>"$sets/second/greet/__init__.py"
printf 'packages usual { runtime = "python" path = "%s" digest = "%s" default = true }\n' \
	"$sets/data2024" "$(digest_of "$sets/data2024")" >>"$conf"
if [[ $(id -u) == 0 ]]; then
	echo 'socket_mode = "0666"' >>"$conf"
	sed -i '/^packages tools/s/}$/users = {"daemon"} }/; /^packages plain/s/}$/groups = {54321} }/' "$conf"
fi
daemon_start
like "$(set_state second)" '^off its files have changed: the digest is sha256:' "a set that has changed is off"
exits 126 "a run cannot name it" cectl run --packages second -c 1
like "$err" '"second" is off: its files have changed' "and is told why"
exits 1 "packages verify finds it" cectl packages verify second --json
is "$(json "$out" "[it['same'], it['packages'][0]['found'] == '$(digest_of "$sets/second")']")" '[false, true]' \
	"with the digest that it has"
like "$(cectl packages verify second)" 'the daemon refuses runs that name it' "and what the daemon does"
like "$(json "$(cectl status --json)" "[s['state'] for s in it['packages'] if s['name'] == 'second']")" off \
	"admin.status says so"
like "$(cectl doctor --config "$conf" 2>&1 | tr -s ' \n' ' ')" 'second.*has another digest' "and cectl doctor finds it, too"
is "$(cectl run -c 'import greet; print(greet.hi())')" "hello from the set" "a run that names no sets has the default ones"
is "$(cectl run --json -c 1 >"$work/usual"; json "$(cat "$work/usual")" "[p['name'] for p in it['runtime']['packages']]")" \
	'["usual"]' "which its result names"
is "$(cectl run --packages data2024 -c 'import sys; print(sys.path[1])')" /sets/data2024 "one that names some has only these"

if [[ $(id -u) == 0 ]]; then
	as_other=(setpriv --reuid 54321 --regid 54321 --clear-groups "$(ced_programs)/bin/cectl")
	exits 126 "a set for other users is refused" "${as_other[@]}" run -l bash --packages tools -c 'echo 1'
	like "$err" 'for other users.*plain' "with those that this user may name"
	exits 0 "its group's set is not" "${as_other[@]}" run -l bash --packages plain -c 'echo 1'
	exits 0 "a user's list" "${as_other[@]}" packages list --json
	is "$(json "$out" "any('path' in s for s in it['packages'])")" false "has no folders"
	exits 1 "a user cannot verify" "${as_other[@]}" packages verify
else
	diag "SKIP: only root can ask as another user"
fi
done_testing
