#!/bin/bash
# The client for node against the cases that all clients share, and against cases about its runner.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python javascript
. "$here/node_client.sh"
node_client_build || bail "clients/node does not build"
mkdir -m 755 "$ced_folder/policies"
install -m 644 "$here"/../../clients/conformance/policies/*.json "$ced_folder/policies"
echo "policies = \"$ced_folder/policies\"" >>"$ced_folder/ced.conf"
chmod 644 "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
cd "$client" || bail "no folder $client"
shopt -s nullglob
cases=()
for file in "$here"/../../clients/conformance/*.json; do
	[[ $file == *schema.json ]] || cases+=("$file")
done
node test/conformance.mjs test/cases.json "${cases[@]}" >"$work/said" 2>&1
ok $? "$(grep -c '^ok' "$work/said") cases of $((1 + ${#cases[@]})) files"
report "$work/said"
grep -q '^ok .* # SKIP this daemon has no runtime no-such-runtime' "$work/said"
ok $? "a case that cannot run here is skipped with a reason"

# Each case with another expectation must fail.
/usr/bin/python3 - <<'END'
import json
step = {"call": "run", "params": {"code": "print(1)"}}
wrong = [{"result": {"stdout": "2\n"}}, {"result": {"stdout": {"$absent": True}}}, {"error": {"code": "busy"}},
         {"result": {"artifacts": [{}]}}, {"events": []}, {"calls": [{}]}, {"result": {"ok": {"$type": "string|null"}}}]
json.dump({"about": "wrong", "cases": [{"name": f"wrong {n}", "steps": [{**step, **more}]}
                                       for n, more in enumerate(wrong)]}, open("wrong.json", "w"))
END
is "$(node test/conformance.mjs wrong.json | grep -c '^not ok')" 7 "a case that expects something else fails"
done_testing
