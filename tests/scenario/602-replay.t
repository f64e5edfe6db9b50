#!/bin/bash
# What was recorded runs again, and what differs is said.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
mkdir "$ced_folder/policies"
cat >"$ced_folder/ced.conf" <<CONF
cgroups = "auto"
policies = "$ced_folder/policies"
CONF
# The house's own policy is at first the standard one.
house_is() {
	sed 's/"name": "[a-z]*"/"name": "house"/' "$CED_SOURCE/daemon/policy/policies/$1.json" \
		>"$ced_folder/policies/house.json"
}
house_is standard
chmod -R a+rX "$ced_folder/policies"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start

# Everything that a run can be given comes back.
echo '{"n": 20}' >"$work/numbers.json"
cat >"$work/whole.py" <<'PY'
import json, os, sys
n = json.load(open("numbers.json"))["n"] + json.load(sys.stdin)["n"]
open("out.txt", "w").write("done")
print(json.dumps({"n": n, "arg": sys.argv[1], "env": os.environ["MODE"]}))
PY
exits 0 "a run with input, file, argument, variable, artifact, contract and limits" \
	cectl run -p house -f numbers.json -i '{"n": 22}' -e MODE=test -a out.txt --output json \
	--limit wall=3s --limit memory=64M --agent planner --task sum --id once whole.py -- fast
first=$(cectl show --json last | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["run_id"])')
exits 0 "comes out the same" cectl replay "$first"
like "$out" 'same.*ok' "and that is said"
like "$out" 'as they were' "and that nothing has changed since"
record=$(cectl show --json last)
is "$(json "$record" 'it["replay_of"]')" "$first" "the replay is a record of its own, which names what it repeats"
is "$(json "$record" 'it["value"]')" '{"n": 42, "arg": "fast", "env": "test"}' "with the same value"
is "$(json "$record" '[it["request"]["limits"]["wall_ms"], it["request"]["policy"], it["request"]["agent"], it["request"].get("id")]')" \
	'[3000, "house", "planner", null]' "under the same limits and policy, for the same agent, and without the caller's id"
is "$(json "$record" 'it["caller"]["uid"]')" "$(id -u)" "for the one who asked now"
exits 0 "a replay can be replayed" cectl replay last
exits 0 "as JSON" cectl replay --json "$first"
is "$(json "$out" '[it["same"], it["differs"], it["circumstances"], it["fingerprint"] == it["recorded_fingerprint"]]')" \
	'[true, [], [], true]' "with all of it"

# What differs.
cectl run -c 'import random; print("steady"); print(random.random())' >"$work/out" 2>&1
first=$(cectl show --json last | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["run_id"])')
exits 1 "a program that throws dice differs" cectl replay "$first"
like "$out" 'stdout +2 ' "in the second line of its output"
exits 1 "and does so from time to time" cectl replay "$first" --times 5
like "$out" '0 of 5 are the same.*differently' "which is said"
exits 1 "as JSON" cectl replay "$first" --times 5 --json
is "$(json "$out" '[it["times"], it["same"], it["ways"], len(it["replays"])]')" '[5, 0, 5, 5]' "in figures"
cectl run -c 'print(6 * 7)' >"$work/out" 2>&1
exits 0 "a steady one is found to be steady" cectl replay last --times 10
like "$out" '10 of 10 are the same.*alike each time' "which is said"

# Fixed chance and clock.
cectl run -c 'import random, time; print(random.random(), time.time())' >"$work/out" 2>&1
exits 1 "with fixed chance and clock" cectl replay last --deterministic --times 4
like "$out" '0 of 4 are the same.*alike each time' "it comes out alike each time, and other than then"
cectl run --deterministic -c 'import random, time; print(random.random(), time.time())' >"$work/out" 2>&1
exits 0 "and one that was deterministic is so again" cectl replay last --times 3

# What was masked is not there to be run again.
TOKEN=hunter2hunter2 cectl run --secret TOKEN -e TOKEN=hunter2hunter2 -c 'import os; print(len(os.environ["TOKEN"]))' >"$work/out" 2>&1
masked=$(cectl show --json last | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["run_id"])')
exits 1 "what came with a secret is not run without it" cectl replay "$masked"
like "$err" 'conflict.*1 secrets.*name them again' "which is said"
is "$(json "$(cectl show --json last)" 'it["run_id"]')" "$masked" "and nothing has run"
exits 2 "a variable that is not there is no secret" cectl replay --secret NOT_THERE "$masked"
TOKEN=hunter2hunter2 exits 1 "with it it comes out otherwise, since it does not stand in the record" cectl replay --secret TOKEN "$masked"
like "$out" 'secrets in the record are masked' "and it is said that it was masked"

# What a program makes of parts is masked only as long as the secret is known.
TOKEN=hunter2hunter2 cectl run --id mine --secret TOKEN -c 'print("hunter2" * 2)' >"$work/out" 2>&1
masked=$(cectl show --json last | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["run_id"])')
exits 1 "it is not run without its secret" cectl replay "$masked"
TOKEN=hunter2hunter2 exits 0 "with its secret it comes out the same" cectl replay --secret TOKEN "$masked"
is "$(json "$(cectl show --json last)" '[it["stdout"], it["masks"], it["request"]["secrets"]]')" '["[masked:secret]\n", 1, 1]' "and is kept with masks again"
exits 1 "nor is the replay" cectl replay last
exits 0 "a repeat of its id without the secret" cectl run --id mine -c 'print("hunter2" * 2)'
is "$out" '[masked:secret]' "is told what is masked"
exits 1 "and is not run without it either" cectl replay last
TOKEN=hunter2hunter2 cectl run --id quiet --secret TOKEN -c 'import sys; sys.exit(0)' >"$work/out" 2>&1
cectl run --id quiet -c 'import sys; sys.exit(0)' >"$work/out" 2>&1
exits 1 "nor is one that repeats what had a secret and wrote none" cectl replay last
like "$err" 'name them again' "since the run whose result it is had one"
cectl run --id bare -c 'print("hunter2" * 2)' >"$work/out" 2>&1
TOKEN=hunter2hunter2 exits 0 "a repeat that names a secret which the first run did not" cectl run --id bare --secret TOKEN -c 'print("hunter2" * 2)'
is "$(json "$(cectl show --json last)" '[it["stdout"], it["cached"], it["masks"]]')" '["[masked:secret]\n", true, 1]' "is the same action, and kept with its own masks"

# Programs that ended in other ways.
for code in 'raise ValueError("no")' 'while True: pass' 'print("x" * 200000)' 'import sys; sys.exit(7)' \
	'import os; os.kill(os.getpid(), 11)' 'if' 'import socket; socket.socket()'; do
	cectl run -c "$code" --limit wall=500ms --limit stdout=10k >"$work/ended" 2>&1
	exits 0 "the same again: $code" cectl replay last
	[[ $out == *differs* ]] && diag "$out"
done

# Nothing runs unchecked: today's policy, today's ceilings, today's locks.
cectl run -p house -c 'print(eval("6 * 7"))' >"$work/out" 2>&1
first=$(cectl show --json last | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["run_id"])')
daemon_stop
house_is strict
printf 'most { wall_ms = 1s }\nlimits { wall_ms = 1s }\n' >>"$ced_folder/ced.conf"
daemon_start
exits 1 "what today's limits do not allow is refused" cectl replay "$first"
like "$err" 'bad_request.*wall_ms' "by the contract"
daemon_stop
sed -i '/wall_ms/d' "$ced_folder/ced.conf"
daemon_start
exits 1 "what today's policy denies is not run" cectl replay "$first"
like "$out" 'policy_denied' "it is denied"
like "$out" 'policy.digest' "and the changed policy is named"
is "$(json "$(cectl show --json last)" '[it["outcome"], it["ran"]]')" '["policy_denied", "no"]' "in its record, too"
cectl drain >/dev/null
exits 1 "nor while no new runs are taken" cectl replay "$first"
like "$err" 'draining' "as any other run"
cectl resume >/dev/null
cectl run -c '' --limit wall=999h >"$work/out" 2>&1
exits 1 "a request that the contract refused holds no program" cectl replay last
like "$err" 'conflict.*no program' "which is said"
exits 1 "no such run" cectl replay 01AAAAAAAAAAAAAAAAAAAAAAAA
exits 2 "times is a number" cectl replay "$first" --times often

if [[ $(id -u) == 0 ]]; then
	chmod 777 "$(dirname "$CED_SOCKET")"
	chmod 666 "$CED_SOCKET"
	exits 1 "nobody replays what is another's" \
		setpriv --reuid 4001 --regid 4001 --clear-groups cectl replay "$first"
	like "$err" 'not_found' "for whom there is no such run"
fi
done_testing
