#!/bin/bash
# The client for Python, blocking and async, against the cases that all clients share.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/python_client.sh"
[[ $(id -u) == 0 ]] || skip_all "sessions need cgroups"
/usr/bin/python3 - "$source/proto/method/method_table.h" "$conformance/schema.json" "${cases[@]}" <<'END'
import json, re, sys
from jsonschema import Draft202012Validator
methods = set(re.findall(r'X\(\w+, +"([\w.]+)"', open(sys.argv.pop(1), encoding="utf-8").read()))
schema, *files = [json.load(open(path, encoding="utf-8")) for path in sys.argv[1:]]
names = [case["name"] for file in files for case in file["cases"]]
wrong = [error.message for file in files for error in Draft202012Validator(schema).iter_errors(file)]
twice = sorted({name for name in names if names.count(name) > 1})
missed = methods - {step["call"] for file in files for case in file["cases"] for step in case["steps"]}
print("#", wrong, twice, missed, len(names))
sys.exit(bool(wrong or twice or missed or not methods or len(names) < 60))
END
ok $? "the cases have the form that the schema says, each its own name, and they call every method"
patient_daemon

for way in "" --async; do
	/usr/bin/python3 "$client/tests/conformance.py" $way "${cases[@]}" >"$work/said" 2>&1
	ok $? "$(grep -c '^ok' "$work/said") cases ${way:-with Client}"
	grep -v '^ok' "$work/said" | sed 's/^/# /'
done

# A case that expects something else fails.
/usr/bin/python3 - <<'END'
import json
step = {"call": "run", "params": {"language": "python", "code": "print(1)"}}
wrong = [{"result": {"stdout": "2\n"}}, {"result": {"stdout": {"$absent": True}}}, {"error": {"code": "busy"}},
         {"result": {"artifacts": [{}]}}, {"events": []}, {"calls": [{}]}, {"result": {"ok": {"$type": "string|null"}}},
         {"result": {"exit_code": {"$min": 1}}}, {"result": {"exit_code": False}}, {"result": {"stdout": {"$matches": "^2"}}},
         {"result": {"truncated": {"$any": True}, "surely_not": {"$any": True}}}]
skipped = {"name": "skipped", "needs": ["cobol"], "steps": [step]}
json.dump({"about": "wrong", "cases": [{"name": f"wrong {n}", "steps": [{**step, **more}]}
                                       for n, more in enumerate(wrong)] + [skipped]}, open("wrong.json", "w"))
END
said=$(/usr/bin/python3 "$client/tests/conformance.py" wrong.json)
is "$(grep -c '^not ok' <<<"$said")" 11 "a case that expects something else fails"
like "$said" 'ok 12 - skipped # SKIP this daemon has no runtime cobol' "and one that cannot run is skipped with its reason"
exits 0 "the record holds" cectl audit verify
done_testing
