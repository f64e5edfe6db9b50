#!/bin/bash
# Programs of bash: what they say, how they end, what they find, and what holds them.
# shellcheck disable=SC2016 # what stands in single quotes is for the shell in the jail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only bash
[[ -x /usr/bin/bash ]] || skip_all "there is no bash at /usr/bin"
daemon_start

bash_run() { # name, then arguments of cectl run
	local hoped=$1 name=$2
	shift 2
	exits "$hoped" "$name" cectl run -l bash "$@"
}

outcome_of() { # arguments of cectl run; prints the result
	cectl run --json -l bash "$@" 2>/dev/null
}

# --- as an ordinary shell ------------------------------------------------------------------------

bash_run 0 "a program runs" -c 'echo "hello $((6 * 7))"'
is "$out" "hello 42" "and says what it says"
bash_run 7 "its exit code is the run's" -c 'exit 7'
bash_run 143 "a signal that it sends itself ends it" -c 'kill -TERM $$'
bash_run 0 "arguments come as they were given" -c 'printf "<%s>" "$@"' -- one 'two three' ''
is "$out" "<one><two three><>" "with their blanks"
bash_run 0 "stdin is its own" -c 'read -r line; echo "$line"; cat' --input '{"a": 1}'
is "$out" '{"a":1}' "to the last byte"
bash_run 0 "pipelines" -c 'printf "%s\n" c a b a | sort | uniq -c | sort -rn | head -n 1 | tr -s " "'
is "$out" " 2 a" "of tools"
bash_run 0 "here-documents, arrays, functions and traps" -c '
greet() { local name=$1; cat <<END
hello $name
END
}
trap "echo bye" EXIT
names=(ann "bob b")
for name in "${names[@]}"; do greet "$name"; done'
is "$out" $'hello ann\nhello bob b\nbye' "work"
bash_run 0 "jobs in the background are waited for" -c '(sleep 0.1; echo done) & wait; echo all'
is "$out" $'done\nall' "in order"
bash_run 0 "what is left in the background ends with it" -c 'sleep 60 & echo bye'
is "$out" bye "at once"
bash_run 0 "text is UTF-8" -c 'x="grüße €"; echo "${#x} $x"'
is "$out" "7 grüße €" "by characters"
bash_run 0 "timeout works" -c 'timeout 0.2 sleep 9; echo $?'
is "$out" 124 "and says so"
mkdir -p "$work/data"
echo 'twice() { echo "$1$1"; }' >"$work/lib.sh"
echo text >"$work/data/in.txt"
out=$(cd "$work" && cectl run -l bash --file lib.sh --file data/in.txt:data/in.txt \
	-c 'cat data/in.txt; . ./lib.sh; twice a; stat -c %a lib.sh')
is "$out" $'text\naa\n644' "files of a run are there"
echo 'echo "by name: $0"' >"$work/hello.sh"
out=$(cectl run "$work/hello.sh")
is "$out" "by name: hello.sh" "a file that ends in .sh is one of bash"
cectl run -l bash --artifact '*.txt' --out "$work/came" -c 'echo made >made.txt' >/dev/null
is "$(cat "$work/came/made.txt" 2>&1)" made "artifacts come back"

# --- what it finds -------------------------------------------------------------------------------

out=$(cectl run -l bash -c 'env | sort' | cut -d= -f1 | tr '\n' ' ')
is "$out" "HOME LANG PATH PWD SHLVL TMPDIR TZ _ " "its environment is small and fixed"
out=$(cectl run -l bash -c 'cd /usr/bin; for name in *; do type -P "$name"; done | wc -l')
ok $((out > 95 && out < 150 ? 0 : 1)) "coreutils, bash and the usual tools are there ($out)"
out=$(cectl run -l bash -c 'for name in grep sed awk find xargs tar sh; do type -P $name || echo "no $name"; done')
is "$(echo "$out" | tr '\n' ' ')" "/usr/bin/grep /usr/bin/sed /usr/bin/awk /usr/bin/find /usr/bin/xargs /usr/bin/tar /usr/bin/sh " \
	"what users of a shell expect among them"
out=$(cectl run -l bash -c 'for name in python3 perl git su sudo ld gcc dash mount; do
	type -P $name; done; ls -A /ced; ls /proc /sys /home /root 2>/dev/null; true')
is "$out" "ced-libc.so" "and nothing else of the host"
out=$(cectl run -l bash -c 'shopt -s globstar nullglob; for f in /**; do [[ -u $f || -g $f ]] && echo "$f"; done; true')
is "$out" "" "nothing is setuid or setgid"
out=$(cectl run -l bash -c 'for f in /usr/bin/ls /usr/lib /etc/passwd /; do [[ -w $f ]] && echo $f; done
	: >>/usr/bin/ls; rm -f /usr/bin/ls; ls -d /work' 2>/dev/null)
is "$out" /work "nothing of it can be changed"

# --- how it ends ---------------------------------------------------------------------------------

it=$(outcome_of -c $'echo one\nfrob')
is "$(json "$it" '[it["outcome"], it["exit_code"], it["error"]["line"], it["error"]["message"], it["error"]["text"]]')" \
	'["exception", 127, 2, "frob: command not found", "frob"]' "an error says where and what"
it=$(outcome_of -c $'if true; then\n echo a\nfi; fi')
is "$(json "$it" '[it["outcome"], it["error"]["type"], it["error"]["line"]]')" \
	'["exception", "SyntaxError", 3]' "text that is no program, too"
it=$(outcome_of -c $'echo "never closed')
is "$(json "$it" '[it["outcome"], it["error"]["type"], it["error"]["line"]]')" \
	'["exception", "SyntaxError", 1]' "also when it just ends"
it=$(outcome_of -c 'set -e; false; echo no')
is "$(json "$it" '[it["outcome"], it["exit_code"], it["stdout"]]')" '["exit", 1, ""]' "set -e ends it"
it=$(outcome_of -c 'set -u; echo "$nothing"')
is "$(json "$it" '[it["outcome"], it["error"]["line"]]')" '["exception", 1]' "and set -u"
it=$(outcome_of -c 'frob; echo fine')
is "$(json "$it" '[it["outcome"], it.get("error")]')" '["ok", null]' "what it got over is no error"
it=$(outcome_of --limit wall_ms=300 -c 'sleep 9')
is "$(json "$it" 'it["outcome"]')" wall_limit "the clock ends it"
it=$(outcome_of --limit wall_ms=400 -c 'trap "" TERM INT HUP; kill -STOP 0; sleep 9')
is "$(json "$it" 'it["outcome"]')" wall_limit "stopped or deaf"
if [[ $(id -u) == 0 ]]; then
	it=$(outcome_of --limit cpu_ms=300 -c '(while :; do :; done) & (while :; do :; done) & wait')
	is "$(json "$it" 'it["outcome"]')" cpu_limit "cpu of all its processes counts together"
	it=$(outcome_of --limit memory_bytes=33554432 -c 'x=$(head -c 200000000 /dev/zero | tr "\0" a); echo ${#x}')
	is "$(json "$it" 'it["outcome"]')" memory_limit "memory"
	it=$(outcome_of --limit pids=20 -c 'for i in {1..40}; do sleep 1 & done; wait; exit 3')
	is "$(json "$it" 'it["outcome"]')" pids_limit "processes"
fi
it=$(outcome_of --limit disk_bytes=1048576 -c 'head -c 9000000 /dev/zero >big')
is "$(json "$it" 'it["outcome"]')" disk_limit "disk"
it=$(outcome_of --limit stdout_bytes=1000 -c 'yes')
is "$(json "$it" '[it["outcome"], len(it["stdout"])]')" '["output_limit", 1000]' "output, to the byte"
it=$(outcome_of --limit wall_ms=60000 --limit cpu_ms=60000 -c 'f() { f | f & }; f; sleep 0.2; exit 4')
like "$(json "$it" 'it["outcome"]')" "^(exit|pids_limit|exception)$" "a bomb is over with its run"
exits 0 "and the next one finds everything as it was" cectl run -l bash -c 'ls -A; ls -A /tmp'
is "$out" main.sh "that is, nothing"
is "$(/usr/bin/python3 - "$here" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import wire
client = wire.Client()
error, _ = client.receive(client.send("run", language="bash", code="echo no", args=["x" * 140000]))
print(error["code"], error["data"]["pointer"], "131072" in error["message"])
END
)" "bad_request /args/0 True" "an argument that no process can have is refused with the reason"

# --- policy --------------------------------------------------------------------------------------

exits 0 "strict runs what only computes" cectl run -l bash --policy strict -c 'seq 3 | sort -r | head -1'
exits 126 "and nothing else" cectl run -l bash --policy strict -c 'x=curl; $x http://localhost/'
like "$err" "bash.command.dynamic" "and says which rule"
it=$(outcome_of -c $'echo \xe2\x80\xaetxet' )
is "$(json "$it" '[it["policy"]["decision"], it["policy"]["findings"][0]["rule"]]')" \
	'["observe", "bash.bytes.bidi"]' "its bytes are looked at"
it=$(cectl run --json -l bash -c $'if; then\nfi' 2>/dev/null)
is "$(json "$it" 'it["policy"]["decision"]')" observe "text that cannot be read is never simply allowed"

bash_run 124 "a tool that is told to write each line loses none at a kill" --limit wall_ms=2500 -c '
(echo one | sed -u s/o/0/; sleep 60) | grep --line-buffered n | awk "{ print; fflush() }"'
is "$out" 0ne "as the documents say"
bash_run 127 "stdbuf is not among the tools" -c 'stdbuf -oL true'

out=$(cectl runtimes --json)
is "$(json "$out" '[(r["name"], r["kind"], r["tools"][:21]) for r in it["runtimes"] if r["name"] == "bash"]')" \
	'[["bash", "command", "coreutils sh grep egr"]]' "runtimes tell what it is"
like "$(cectl runtimes)" "bash +bash 5" "with its version"

# --- a shell that is started before its job comes --------------------------------------------------

warm=$(cectl --json runtimes | /usr/bin/python3 -c 'import json, sys
print(next(row["warm"] for row in json.load(sys.stdin)["runtimes"] if row["name"] == "bash"))')
[[ $warm -gt 0 && $(waiting_as /usr/bin/bash) -ge $warm ]]
ok $? "workers of bash are shells that wait"
# shellcheck disable=SC2154 # out is set by exits
for env in LD_BIND_NOW=1 GLIBC_TUNABLES=glibc.malloc.check=0 MALLOC_ARENA_MAX=1; do
	bash_run 0 "a job whose environment is for the loader starts its own: $env" --env "$env" -c "printenv ${env%%=*}"
	is "$out" "${env#*=}" "which has it"
done
bash_run 0 "the loader of that shell reads it" --env LD_DEBUG=statistics -c ':'
like "$err" 'runtime linker statistics' "and does what it says"
bash_run 0 "a shell has no descriptors but its own" -c 'for ((fd = 0; fd < 1024; fd++)); do
	{ true <&$fd; } 2>/dev/null && printf "%s " "$fd"; done; :' --input 1
is "$out" "0 1 2 10 255 " "three, the saved one of this test, and the script"
bash_run 0 "nor variables of ours" -c 'declare -p | grep -iE "ced|preload" || echo none'
is "$out" none "at all"
done_testing
