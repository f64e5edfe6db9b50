#!/bin/bash
# cectl against the cases that all clients share: what a command line can play, with `cectl call`.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/python_client.sh"
[[ $(id -u) == 0 ]] || skip_all "sessions need cgroups"
patient_daemon

/usr/bin/python3 "$here/../clients/cectl_conformance.py" "${cases[@]}" >"$work/said" 2>&1
ok $? "the cases pass with cectl"
grep -v '^ok' "$work/said" | sed 's/^/# /'
grep '# SKIP' "$work/said" | sed 's/^/# /'
played=$(grep -c '^ok' "$work/said")
skipped=$(grep -c '# SKIP' "$work/said")
ok $((played - skipped < 75)) "at least 75 cases are played: $((played - skipped)) of $played"
is "$(grep '# SKIP' "$work/said" | grep -vc '# SKIP [a-zA-Z]')" 0 "each that is skipped says why"

/usr/bin/python3 "$here/164-wrong-cases.py" >wrong.json
said=$(/usr/bin/python3 "$here/../clients/cectl_conformance.py" wrong.json)
is "$(grep -c '^not ok' <<<"$said")" "$(grep -c '"wrong ' wrong.json)" "a case that expects something else fails"

# The command itself.
exits 0 "a call without params" cectl call hello
is "$(json "$out" 'it["server"]')" ced "prints the answer as JSON"
exits 0 "params on stdin" bash -c 'cectl call runs.list - <<<"{\"limit\": 1}"'
is "$(json "$out" 'len(it["runs"])')" 1 "reach the daemon"
exits 2 "params that are no JSON" cectl call runs.list '{'
like "$err" '^cectl: PARAMS: ' "are a mistake of the line"
exits 2 "params that are no map" cectl call runs.list '[]'
like "$err" 'they are a map' "too"
exits 1 "a method that is not there" cectl call runs.lst
like "$err" 'unknown_method' "is the daemon's answer"
like "$err" 'runs\.list' "with a similar one"
exits 1 "an error with --json" cectl call runs.get '{"run_id": "01AAAAAAAAAAAAAAAAAAAAAAAA"}' --json
is "$(json "$out" 'it["error"]["code"]')" not_found "is a document on stdout"
exits 0 "a program that fails is an answer" cectl call run '{"language": "python", "code": "1/0"}'
is "$(json "$out" 'it["outcome"]')" exception "with its outcome"
exits 0 "the record holds" cectl audit verify
done_testing
