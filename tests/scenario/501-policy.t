#!/bin/bash
# Policies by cectl: what there are, what is in them, an operator's own rules and their examples.
. "$(dirname "$0")/lib.sh"
mkdir "$work/policies" "$work/examples"
cat >"$work/ced.conf" <<END
cgroups = "auto"
policies = "$work/policies"
END
cat >"$work/policies/house.json" <<'END'
{
  "name": "house",
  "description": "standard, by the rules of the house",
  "extends": "standard",
  "executes": ["python"],
  "rules": { "python.house.*": "ask", "python.house.prints": "deny" },
  "numbers": { "python.reads": 32 },
  "limits": { "wall_ms": 1500 },
  "most": { "wall_ms": 2000, "pids": 10 }
}
END
rule_of_house() {
	cat >"$work/policies/python.house.scm" <<END
;;; python.house.names
;;; finds   word in { $1 }
;;; unless  attribute keyword store bound
;;; message the house has no such thing
;;; hint    use what the house has
(identifier) @name

;;; python.house.prints
;;; finds   use in { print }
;;; number  3
;;; message so much is not printed here
;;; hint    collect what is to be printed
(call function: (identifier) @name)
END
}
rule_of_house 'warehouse depot'
cat >"$work/examples/house-name.case" <<'END'
policy: house
---
x = warehouse.open()
---
ask
python.house.names 1:5 ask warehouse
END
cat >"$work/examples/own-name.case" <<'END'
policy: house
---
def depot():
    return 1
x = depot()
y = x.warehouse
---
allow
END
cat >"$work/examples/many-prints.case" <<'END'
policy: house
---
print(1)
print(2)
print(3)
print(4)
---
deny
python.house.prints 4:1
END
cat >"$work/examples/bytes.case" <<'END'
policy: standard
language: bash
bytes: escaped
---
echo \x00
---
deny
END
chmod -R a+rX "$work"
ced_arguments=(--config "$work/ced.conf")
daemon_start

# --- list, show --------------------------------------------------------------------------------------

out=$(cectl policy list --json)
is "$(json "$out" 'sorted(p["name"] for p in it["policies"])')" \
	'["house", "observe", "review", "standard", "strict"]' "the policies there are"
is "$(json "$out" '[p["executes"] for p in it["policies"] if p["name"] == "house"]')" '[["python"]]' \
	"and what may run under each"
like "$(cectl policy list)" "standard \*" "the default is marked"
out=$(cectl policy show house --json)
is "$(json "$out" '[[r["severity"], r["words"]] for r in it["rules"] if r["id"] == "python.house.names"]')" \
	'[["ask", ["warehouse", "depot"]]]' "a rule of the house, with its words"
is "$(json "$out" '[it["limits"], it["most"]["pids"]]')" '[{"wall_ms": 1500}, 10]' "and the limits of its runs"
is "$(json "$out" '[r["severity"] for r in it["rules"] if r["id"] == "bash.command.dangerous"][0]')" observe \
	"the rest is as in what it extends"
out=$(cectl policy show house --rule python.house)
like "$out" "deny +python.house.prints" "for people, too"
[[ $out != *python.import* ]]
ok $? "only the rules that were asked for"
exits 1 "a policy that is not there" cectl policy show nobody
exits 2 "a word that policy does not know" cectl policy nonsense
is "$(json "$(cectl runtimes --json)" 'len(it["runtimes"]) > 0')" true "nothing else changed"

# --- what they do ------------------------------------------------------------------------------------

it=$(cectl run --json --policy house -c 'x = 1')
is "$(json "$it" 'it["limits"]["wall_ms"]')" 1500 "a run has the limits of its policy"
exits 126 "and may not ask for more than that" cectl run --policy house --limit pids=11 -c 'x = 1'
exits 126 "a language that it only checks does not run" cectl run -l bash --policy house -c 'echo 1'
like "$err" "policy.language_denied_execution" "and this is the reason"
exits 126 "and check says so, too" cectl check -l bash --policy house -c 'echo 1'
like "$err$out" "policy.language_denied_execution" "for the same reason"
it=$(cectl check --json -l bash --policy house -c 'if; then')
is "$(json "$it" '[it["would"], sorted(f["rule"] for f in it["policy"]["findings"])]')" \
	'["deny", ["bash.syntax.unreadable", "policy.language_denied_execution"]]' "and what it finds in the program"
is "$(json "$(cectl check --json --policy house -c 'x = warehouse')" 'it["would"]')" ask "check says that it would ask"

# --- test --------------------------------------------------------------------------------------------

exits 0 "examples that come out as written" cectl policy test "$work/examples"
like "$out" "python: 3 of 3 as expected" "counted by language"
like "$out" "bash: 1 of 1" "each"
sed -i 's/^ask$/deny/' "$work/examples/house-name.case"
exits 1 "and one that does not" cectl policy test "$work/examples"
like "$out" "house-name" "is named"
like "$out" "python: 2 of 3" "and counted"
is "$(json "$(cectl policy test --json "$work/examples/house-name.case")" '[it["ok"], it["results"][0]["found"]]')" \
	'[false, "ask\npython.house.names 1:5 ask warehouse\n"]' "--json has what was found"
printf 'policy: strict\nlanguage: sh\n---\ndd if=a of=b\n---\ndeny\n' >"$work/alias.case"
it=$(cectl policy test --json "$work/alias.case")
like "$it" "bash.command.denied" "sh is bash for examples, too: its rules are looked at"
exits 2 "no examples at all" cectl policy test
mkdir "$work/none"
exits 1 "a folder without any is not passed over" cectl policy test "$work/none"
like "$err" 'no example in .*/none' "it says"
exits 1 "a file that is none" cectl policy test "$work/ced.conf"

rule_of_house 'warehouse'
chmod -R a+rX "$work"
sed -i 's/^deny$/ask/' "$work/examples/house-name.case"
cat >"$work/examples/depot.case" <<'END'
policy: house
---
x = depot
---
allow
END
exits 1 "the rules in force stay as they were read" cectl policy test "$work/examples/depot.case"
exits 0 "new ones can be tried before" cectl policy test --new "$work/examples"
like "$out" "python: 4 of 4" "with all examples"
exits 0 "once more" cectl policy test --new "$work/examples"
printf '(nonsense) @name\n' >>"$work/policies/python.house.scm"
exits 1 "a fault in them" cectl policy test --new "$work/examples"
like "$err" "python.house.scm line 14: the grammar has no such node" "is told with file and line"
printf '{' >"$work/policies/broken.json"
chmod -R a+rX "$work"
exits 1 "a fault in a policy" cectl policy test --new "$work/examples"
like "$err" "broken.json" "too"
exits 0 "and the daemon goes on as before" cectl check --policy house -c 'x = 1'

# --- as docs/POLICY.md tells it ------------------------------------------------------------------------

rm "$work/policies"/* "$work/examples"/*
doc_block() { # FILE: the block below <!-- FILE -->
	awk -v mark="<!-- $1 -->" '$0 == mark { on = 1; next } on && /^```/ { if (inside) exit; inside = 1; next } inside' \
		"$(dirname "$0")/../../docs/POLICY.md"
}
doc_block python.house.scm >"$work/policies/python.house.scm"
doc_block warehouse.case >"$work/examples/warehouse.case"
doc_block own-warehouse.case >"$work/examples/own-warehouse.case"
doc_block house.json >"$work/policies/house.json"
chmod -R a+rX "$work"
exits 0 "the rule and the examples of the documentation" cectl policy test --new "$work/examples"
like "$out" "python: 2 of 2 as expected" "come out as it says"

if [[ $(id -u) -eq 0 ]]; then
	exits 1 "new rules are for administrators" \
		setpriv --reuid 12345 --regid "$(stat -c %g "$CED_SOCKET")" --clear-groups \
		"$(command -v cectl)" policy test --new "$work/examples"
	like "$err" "administrators" "and others are told so"
else
	ok 0 "new rules are for administrators # SKIP needs root, to be another user"
	ok 0 "and others are told so # SKIP needs root, to be another user"
fi

# --- a daemon with rules that no inspector takes does not start ------------------------------------------

daemon_stop
printf '(nonsense) @name\n' >>"$work/policies/python.house.scm"
programs=$(ced_programs)
timeout 60 "${ced_own[@]}" "$programs/bin/ced-spawner" --libexec "$programs/libexec/ced" -- --socket "$CED_SOCKET" \
	--state "$ced_state" "${ced_arguments[@]}" >"$work/log" 2>&1 </dev/null
is $? 1 "a daemon whose rules have a fault ends its start"
like "$(cat "$work/log")" "start.failed.*python.house.scm line 7" "and says where it is"
done_testing
