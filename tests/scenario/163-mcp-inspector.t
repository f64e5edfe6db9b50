#!/bin/bash
# cectl mcp, driven by the command-line mode of MCP's inspector, which the build fetches (tests/clients/mcp):
# it lists and calls every tool.  Each call is a server of its own.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python javascript
inspector=$here/../../build/mcp-client/node_modules/@modelcontextprotocol/inspector-cli/build
[[ -f $inspector/cli.js ]] || bail "build/mcp-client has no inspector: build the target mcp_client"
[[ $(id -u) == 0 ]] || skip_all "sessions need cgroups"
daemon_start
cd "$inspector" || bail "no folder $inspector" # it finds its own version from there

# inspect METHOD [OPTION...]: the answer is in $out.  `cli.js --cli` starts index.js with these very words.
inspect() {
	out=$(node index.js cectl mcp --method "$@" 2>"$work/err")
}
# tool NAME [KEY=VALUE...]: the structured content is in $facts.
tool() {
	local name=$1 pair options=()
	shift
	for pair in "$@"; do options+=(--tool-arg "$pair"); done
	inspect tools/call --tool-name "$name" "${options[@]}"
	ok $? "it calls $name"
	[[ -n $out ]] || diag "$(<"$work/err")"
	called+=" $name"
	facts=$(json "${out:-null}" 'it["structuredContent"]')
	is "$(json "${out:-null}" '[it["content"][0]["type"], it.get("isError", False)]')" '["text", false]' "which has a text, and succeeds"
}
called=

out=$(node cli.js --cli cectl mcp --method tools/list 2>"$work/err")
ok $? "the inspector lists the tools"
listed=$(json "$out" '" ".join(sorted(tool["name"] for tool in it["tools"]))')
is "$(json "$out" 'sorted(key for tool in it["tools"] for key in ("description", "inputSchema", "outputSchema", "annotations") if key not in tool)')" \
	'[]' "each with a description, schemas and annotations"

limits='limits={"wall_ms": 60000, "cpu_ms": 60000}'
tool run_code language=python 'code=print(6 * 7)' "$limits"
run=$(json "$facts" 'it["run_id"]')
is "$(json "$facts" '[it["outcome"], it["stdout"]]')" '["ok", "42\n"]' "a program runs"
tool check_code language=python 'code=print(1)'
is "$(json "$facts" 'it["would"]')" run "a program is checked"
tool get_run "run_id=$run"
is "$(json "$facts" 'it["code"]')" 'print(6 * 7)' "its record is read"
tool get_output "run_id=$run" stream=stdout
is "$(json "$facts" 'it["text"]')" $'42' "its output, too"
tool explain_run "run_id=$run"
is "$(json "$facts" 'len(it["happened"]) > 0')" true "it is explained"
tool search_runs 'text="42"'
is "$(json "$facts" '[row["run_id"] for row in it["runs"]]')" "[\"$run\"]" "and found"
tool list_runtimes
is "$(json "$facts" '"python" in [row["name"] for row in it["runtimes"]]')" true "the runtimes are listed"
tool open_session language=python
is "$(json "$facts" 'it["language"]')" python "a session is opened, which ends with its server"
tool list_sessions
is "$(json "$facts" 'it["sessions"]')" '[]' "so the next one has none"
session=$(cectl session open --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["session"])')
cectl run --session "$session" -c 'x = 1'
tool rollback_session "session=$session" state=1
is "$(json "$facts" 'it["state"]')" 1 "it goes back"
tool close_session "session=$session"
is "$(json "$facts" 'it["session"]')" "$session" "one of somebody else is closed"
tool run_code language=python 'code=import time; time.sleep(600)' "$limits" detach=true
run=$(json "$facts" 'it["run_id"]')
tool wait_run "run_id=$run" timeout_ms=1
is "$(json "$facts" 'it["state"]')" running "a detached run is waited for"
tool cancel_run "run_id=$run"
inspect tools/call --tool-name wait_run --tool-arg "run_id=$run"
is "$(json "$out" '[it["structuredContent"]["outcome"], it["isError"]]')" '["canceled", true]' "and cancelled, which is an error for the model"
is "$(tr ' ' '\n' <<<"${called# }" | sort -u | paste -sd' ')" "$listed" "every tool was called"

inspect tools/call --tool-name run_code --tool-arg language=python --tool-arg 'code=1/0'
is "$(json "$out" 'it["isError"]')" true "a program that fails is an answer"
inspect tools/call --tool-name nothing
is $? 1 "a tool that is not there is an error"
like "$(<"$work/err")" 'Failed to call tool nothing.*nothing' "of the protocol"
inspect resources/list
ok $? "it lists resources"
is "$(json "$out" 'any(row["uri"].endswith("'"$run"'") for row in it["resources"])')" true "which are runs"
inspect resources/read --uri "ced://run/$run"
is "$(json "$out" '__import__("json").loads(it["contents"][0]["text"])["outcome"]')" canceled "and reads one"
exits 0 "the record holds" cectl audit verify
done_testing
