#!/bin/bash
# Every answer is also one JSON document with the keys of docs/PROTOCOL.md.
. "$(dirname "$0")/lib.sh"
daemon_start

exits 0 "run --json" cectl run --json -c 'print(1)' --task t-1 --agent planner --label env=test
is "$(json "$out" '[it["outcome"], it["stdout"], it["ok"]]')" '["ok", "1\n", true]' "is the result"
is "$(wc -l <"$ced_folder/out")" 1 "on one line in a pipe"
run_id=$(json "$out" 'it["run_id"]')
exits 126 "a refusal by policy" cectl run --json -c 'import socket' --policy strict
is "$(json "$out" 'it["outcome"]')" policy_denied "is a result"
is "$(json "$out" 'it["policy"]["findings"][0]["line"]')" 1 "with its findings"
exits 126 "a refusal by contract" cectl run --json -c 1 --task ''
is "$(json "$out" 'it["error"]["code"]')" bad_request "is an error"
exits 0 "bytes that are no text" cectl run --json -c 'import sys; sys.stdout.buffer.write(b"\xff")'
is "$(json "$out" 'it["stdout"]["base64"]')" "/w==" "come as base64"
exits 0 "text that could fool a terminal" cectl run --json -c 'print(chr(0x202e) + chr(0x9b))'
unlike "$out" $'\u202e' "does not stand there as it is"
is "$(json "$out" '[ord(c) for c in it["stdout"]]')" '[8238, 155, 10]' "and is the same text"

exits 0 "show --json" cectl show --json "$run_id"
is "$(json "$out" '[it["run_id"], it["outcome"], it["request"]["code"]]')" \
	"[\"$run_id\", \"ok\", \"print(1)\"]" "is the record"
exits 0 "trace --json" cectl trace --json "$run_id"
is "$(json "$out" 'len(it["trace"]) > 3')" true "has the steps"
exits 0 "runs --json" cectl runs --json --label env=test
is "$(json "$out" '[run["run_id"] for run in it["runs"]] == ["'"$run_id"'"]')" true "lists what the filter lets through"
exits 0 "output --json" cectl output --json "$run_id"
is "$(json "$out" 'it["data"]')" "1" "holds the bytes"
exits 0 "stats --json" cectl stats --json --since 1h
is "$(json "$out" 'it["runs"] >= 4')" true "counts"
exits 0 "status --json" cectl status --json
is "$(json "$out" 'it["draining"]')" false "is the whole status"
exits 0 "runtimes --json" cectl runtimes --json
is "$(json "$out" 'it["runtimes"][0]["name"]')" python "lists them"
exits 0 "check --json" cectl check --json -c 'print(1)'
is "$(json "$out" 'it["would"]')" run "says what would be"
exits 126 "check --json of what is refused" cectl check --json -c 'import socket' --policy strict
is "$(json "$out" 'it["would"]')" deny "says so"
exits 126 "check of much that is wrong" cectl check --json -l cobol -c 1 --policy none --task '' --env 'A B=1' --artifact /a
is "$(json "$out" '[it["would"], it["contract"]["pointer"], [error["pointer"] for error in it["contract_errors"]]]')" \
	'["refuse", "/task", ["/task", "/env/A B", "/artifacts/0", "/language", "/policy"]]' "says all of it"
exits 126 "and to people" cectl check -l cobol -c 1 --policy none --task '' --env 'A B=1' --artifact /a
is "$(grep -oE '(--[a-z]+): ' <<<"$out" | tr -d '\n')" '--task: --env: --artifact: --language: --policy: ' "too, by the names of its options"
exits 1 "a run that does not exist" cectl show --json 0000
is "$(json "$out" 'it["error"]["code"]')" not_found "is an error with a stable word"
done_testing
