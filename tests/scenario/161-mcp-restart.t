#!/bin/bash
# cectl mcp outlives its daemon: a lost program is told, and the next call connects again.  And the
# settings that it prints for clients.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
. "$here/pages.sh"
daemon_start

mkfifo "$work/in" "$work/out"
cectl mcp <"$work/in" >"$work/out" 2>"$work/err" &
server=$!
exec 3>"$work/in" 4<"$work/out"

# message_with WORD: reads until a message has it.
message_with() {
	local line
	while read -r -t 300 -u 4 line; do
		[[ $line != *"$1"* ]] || { echo "$line" && return 0; }
	done
	return 1
}
call() { # ID CODE
	printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"python","code":"%s","limits":{"wall_ms":60000,"cpu_ms":60000}},"_meta":{"progressToken":%s}}}\n' \
		"$1" "$2" "$1" >&3
}

call 1 'print(1)'
like "$(message_with '"id":1,')" '"outcome":"ok"' "a program runs"
call 2 'import time; time.sleep(600)'
like "$(message_with '"progressToken":2')" 'is run' "another one runs"
daemon_kill
answer=$(message_with '"id":2,')
like "$answer" '"isError":true' "when the daemon is killed, the call is answered"
like "$answer" 'get_run says what became of run 0' "the answer says how to learn what became of it"
like "$answer" 'cectl doctor' "and what to do on this host"
call 3 'print(3)'
like "$(message_with '"id":3,')" 'no daemon' "without a daemon, the next call says so"
daemon_start
call 4 'print(4)'
like "$(message_with '"id":4,')" '"outcome":"ok"' "when it is back, the next call connects again"
exec 3>&-
wait "$server"
is $? 0 "the end of stdin ends it"
is "$(cat "$work/err")" "" "nothing was written to stderr"

# Its sessions end with it, however it ends, also when another connection has opened them.
if [[ $(id -u) == 0 ]]; then
	/usr/bin/python3 "$here/161-mcp-restart.py" >"$work/said" 2>&1
	ok $? "sessions: $(grep -c '^ok' "$work/said") checks"
	report "$work/said"
fi

# A daemon that hangs: nobody takes the connections from its socket, until no more fit.
/usr/bin/python3 -c '
import json, os, socket, subprocess, sys
path = sys.argv[1]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(0)
waiting = []
try:
    while True:
        waiting.append(socket.socket(socket.AF_UNIX))
        waiting[-1].setblocking(False)
        waiting[-1].connect(path)
except BlockingIOError:
    pass
server = subprocess.Popen(["cectl", "mcp", "--socket", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def ask(number, method, params):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()
code = {"name": "run_code", "arguments": {"language": "python", "code": "1"}}
for number in range(10):
    ask(number, "tools/call", code)
ask(10, "ping", {})
begin = os.times().elapsed
while True:
    answer = json.loads(server.stdout.readline())
    if answer["id"] == 10:
        break
    print(answer["result"]["isError"], answer["result"]["content"][0]["text"])
print("ping in time" if os.times().elapsed - begin < 60 else "ping came late")
server.stdin.close()
print("status", server.wait())
' "$work/full.sock" >"$work/hanging" 2>&1
like "$(cat "$work/hanging")" 'True .*does not accept the connection within 0.25 s' "a daemon that hangs is an error of the call"
like "$(cat "$work/hanging")" 'ping in time' "and holds up nothing else, however many calls there are"
like "$(cat "$work/hanging")" 'status 0' "nor its end"

socket=$CED_SOCKET
unset CED_SOCKET
for client in claude-desktop claude-code cursor vscode zed windsurf gemini-cli cline; do
	cectl mcp --config "$client" 2>"$work/where" | /usr/bin/python3 -c '
import json, sys, os
servers = list(json.load(sys.stdin).values())[0]
entry = servers["ced"]
sys.exit(not (os.path.basename(entry["command"]) == "cectl" and os.access(entry["command"], os.X_OK) and entry["args"] == ["mcp"]))'
	ok $? "--config $client prints its settings"
	like "$(cat "$work/where")" "For $client, in " "and where they belong"
done
page_places[/usr/bin/cectl]=$(command -v cectl)
# shellcheck disable=SC2317 # the page calls it, on a terminal
cectl() {
	NO_COLOR=1 script -qec "cectl $*" /dev/null | tr -d '\r'
}
type_page "$here/../../docs/guide/mcp.md" --typed-by 161-mcp-restart
is "$page_typed" 1 "the guide shows one of them"
unset -f cectl
is "$(cectl mcp --config vscode 2>/dev/null | /usr/bin/python3 -c 'import json,sys; print(*json.load(sys.stdin))')" servers \
	"each client has its own key"
like "$(cectl mcp --config zed --socket /x.sock 2>/dev/null)" '"--socket", *"/x.sock"' "a socket that was named goes into the settings"
like "$(CED_SOCKET=$socket cectl mcp --config zed 2>/dev/null)" "\"--socket\", *\"$socket\"" "so does one from the environment, which clients do not pass on"
like "$(cd "${socket%/*}" && cectl mcp --config zed --socket "${socket##*/}" 2>/dev/null)" "\"$socket\"" "in full"
output=$(cectl mcp --config cursr 2>&1)
is $? 2 "a client that it does not know is a wrong command line"
like "$output" 'did you mean cursor' "a similar one is suggested"
done_testing
