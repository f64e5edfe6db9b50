#!/bin/bash
# Policies of one's own: entry points, lengths, builtins and names; and the tools that policies and users take for granted.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
mkdir -m 755 "$work/policies"
chmod 755 "$work"
cat >"$work/policies/noprocess.json" <<'JSON'
{ "name": "noprocess", "description": "no process, no Object", "extends": "strict",
  "lists_add": { "javascript.names": ["process", "Object"] } }
JSON
awk '$0 == "<!-- tight.json -->" { on = 1; next } on && /^```/ { if (inside) exit; inside = 1; next } inside' \
	"$here/../../docs/POLICY.md" >"$work/policies/tight.json"
cat >"$work/ced.conf" <<CONF
cgroups = "auto"
policies = "$work/policies"
CONF
chmod 644 "$work/policies"/* "$work/ced.conf"
ced_arguments=(--config "$work/ced.conf")
daemon_start

# run POLICY FILE TEXT: its outcome, the rules that found something, and what it printed.
run() {
	printf '%s\n' "$3" >"$work/$2"
	cectl run --policy "$1" --json "$work/$2" 2>&1 | /usr/bin/python3 -c '
import json, sys
result = json.load(sys.stdin)
rules = sorted({finding["rule"] for finding in result["policy"]["findings"]})
print(result["outcome"], *rules, result["stdout"].strip().replace("\n", " "))'
}

# --- names that node's own harness uses ------------------------------------------------------------------
is "$(run noprocess main.js 'console.log("ok")')" "ok ok" "a program that names no process runs where process is closed"
like "$(run noprocess main.js 'setTimeout(() => { throw new Error("late") }, 1)')" '^exception ' "it may fail"
like "$(run noprocess main.js 'process.exit(3)')" '^policy_denied javascript.name.denied' "one that names it is denied"

# --- entry points, lengths, builtins -----------------------------------------------------------------------
is "$(run tight main.py 'class A: pass
def open(): return sorted([2, 1])
try: raise ValueError(len("a"))
except ValueError: print(open())')" "ok [1, 2]" "what the list allows runs, with exceptions, classes and names of its own"
like "$(run tight other.py 'print(1)')" '^policy_denied policy.entry' "another entry point is denied"
like "$(run tight main.py "$(printf '#%.0s' {1..4097})")" '^policy_denied policy.length' "a longer program is denied"
like "$(run tight main.py 'print(max(1, 2))')" '^policy_denied python.builtin.denied' "another builtin is denied"
like "$(run tight main.py 'x: dict = 3')" '^policy_denied python.builtin.denied' "a class is one too"
like "$(cectl policy show tight --rule python.builtin.denied)" 'entries +main.py.*code bytes +4 KiB' "cectl shows what a program may be called, and how long it may be"

cat >"$work/policies/late.json" <<'JSON'
{ "name": "late", "description": "a list of builtins and no other rule", "extends": "standard",
  "safe_builtins": ["print", "len"] }
JSON
chmod 644 "$work/policies/late.json"
daemon_stop
daemon_start
like "$(run late main.py 'print(max(1, 2))')" '^policy_denied python.builtin.denied *$' "a call of another builtin is denied"
like "$(run late main.py 'import builtins as b
print(b.__dict__["ma" + "x"](1, 2))')" '^policy_denied .*python.builtin.denied' "in the worker, too, where the text does not show the name"
is "$(run late main.py 'import json, re
print(len(json.dumps([1])), re.sub("a", "b", "a"))')" "ok 3 b" "the library goes on using what it needs"

# --- tools ---------------------------------------------------------------------------------------------------
wanted=$(/usr/bin/python3 -c '
import json, sys
print(*json.load(open(sys.argv[1]))["lists"]["bash.commands"])' "$here/../../daemon/policy/policies/strict.json")
for tool in $wanted; do
	command -v "$tool" >/dev/null 2>&1 || wanted=${wanted/ $tool / }
done
is "$(run standard main.sh "for tool in $wanted; do type -t \"\$tool\" >/dev/null || echo \"\$tool\"; done")" "ok " \
	"what strict allows in a shell is in its jail"
is "$(run standard main.sh "printf 'b 1\na 2\n' | grep -v x | sed 's/a/c/' | awk '{ print \$2, \$1 }' | sort | xargs
find . -name main.sh; echo x | gzip | zcat; mkdir d; tar czf d.gz d; tar tzf d.gz; sh -c 'echo sh'")" \
	"ok 1 b 2 c ./main.sh x d/ sh" "grep, sed, awk, find, xargs, tar, gzip and sh are there"
like "$(cectl runtimes)" 'tools of bash.*coreutils.*grep.*sed.*awk.*find' "cectl runtimes lists them"
like "$(cectl runtimes --json)" '"tools":"coreutils sh grep' "for programs, too"
daemon_stop

# --- a mistake in a policy stops the start ---------------------------------------------------------------------
echo '{ "name": "late", "description": "a mistake", "safe_builtins": ["prnt"] }' >"$work/policies/late.json"
: >"$ced_log"
ced-spawner -- --socket "$CED_SOCKET" --state "$ced_state" "${ced_arguments[@]}" >>"$ced_log" 2>&1 </dev/null
like "$(<"$ced_log")" 'late.json: safe_builtins: prnt is not a builtin of Python' "a word that is no builtin is named"
done_testing
