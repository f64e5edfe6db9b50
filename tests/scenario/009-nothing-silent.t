#!/bin/bash
# cectl says what it cannot do: languages, stdin, units, and things that are not there.
. "$(dirname "$0")/lib.sh"
daemon_start

# A pipe that stays open and silent: it takes ten seconds, so it begins first.
mkfifo silent
exec 7<>silent
cectl run -c 'print("ran")' <&7 >silent.out 2>silent.err &
silent=$!

# --- which language --------------------------------------------------------------------------

printf 'let x: number = 1\n' >x.ts
printf 'puts 1\n' >x.rb
# shellcheck disable=SC2016 # bash is to expand it in the jail
printf '#!/bin/bash\necho "from ${BASH_VERSION%%%%.*}"\n' >tool
printf '#!/bin/bash\necho 1\n' >mixed.py
printf 'echo "no name"\n' >bare
exits 125 "a file of an unknown kind is not run as Python" cectl run x.ts
like "$err" 'a \.ts file.*--language' "and the sentence says what to type"
exits 125 "nor is another" cectl run x.rb
exits 125 "nor is it looked at as Python" cectl check x.rb
exits 0 "a first line names the language" cectl run tool
is "$out" 'from 5' "and it is bash that ran"
exits 125 "a suffix and a first line that differ are asked about" cectl run mixed.py
like "$err" 'python by its suffix and bash by its first line' "by name"
exits 125 "a file that says nothing is asked about" cectl run bare
exits 0 "--language answers it" cectl run -l bash bare
is "$out" 'no name' "and it runs"

# --- stdin -----------------------------------------------------------------------------------

is "$(echo 5 | cectl run -c 'print(int(input()))')" 5 "what is piped in is the program's stdin"
echo 'print(input())' >reads.py
echo words >words
is "$(cectl run reads.py <words)" words "so is a file"
is "$(echo 6 | cectl run reads.py --stdin words)" words "an option comes before it"
is "$(echo 7 | cectl run reads.py --input 8)" 8 "whichever"
is "$(echo 'print(1)' | cectl run)" 1 "without FILE and -c it is the program"
is "$(printf '#!/bin/sh\necho 2\n' | cectl run -)" 2 "with its own first line"
is "$(: | cectl run -c 'import sys; print(repr(sys.stdin.read()))')" "''" "an empty pipe is an empty stdin"
head -c 3000000 /dev/zero >zeros
is "$(cectl run -c 'import sys; print(len(sys.stdin.buffer.read()))' <zeros)" 3000000 "megabytes arrive"
head -c 17000000 /dev/zero >zeros
cectl run -c 'print(1)' <zeros >out 2>err
is "$? $(cat out)" "125 " "more than a request can hold is refused"
like "$(cat err)" 'stdin: more than 16 MiB' "with the number"
rm zeros
: | cectl run >out 2>err
is "$? $(cat out)" "125 " "an empty program is none"
like "$(cat err)" 'nothing to run' "which is said"
exits 125 "neither is /dev/null" cectl run
like "$err" 'no program: name a FILE' "which is said, too"
cectl run <"$work" >out 2>err
is "$?" 125 "a folder is no program"
like "$(cat err)" 'stdin is a folder' "and is named so"
exits 125 "words behind -c are not all the program" cectl run -c 'print(1)' first second
like "$err" '"first" is one word too many; the program.s own arguments go behind --' "the first of them is named"
exits 125 "nor behind a file" cectl run reads.py first second
like "$err" '"first" is one word too many' "that is not the file"
exits 2 "what no run can be called" cectl show last~-1
like "$err" 'RUN: not a name that a run can have' "is said in a sentence"
exits 2 "a language in large letters" cectl runs --language Python
like "$err" 'did you mean python\?' "is known in lists, too"
echo 'print(1)' | cectl run - --stdin - >out 2>err
is "$?" 125 "stdin is not both"
like "$(cat err)" 'stdin is the program already, and cannot be --stdin' "and the sentence says so"

# --- units and names -------------------------------------------------------------------------

exits 125 "a time without a unit is asked about" cectl run -c 'print(1)' --limit wall=10
like "$err" 'wall: "10" has no unit: write 10ms, 10s or 10m' "with what to write"
exits 125 "wherever one is wanted" cectl wait last --timeout 5
exits 125 "nor is 0 a time" cectl run -c 'print(1)' --limit wall=0
like "$err" '"0" is not a length of time such as 500ms' "and no unit makes it one"
exits 125 "a word that two limits begin with names neither" cectl run -c 'print(1)' --limit call=1s
like "$err" 'the limit "call" may be call_bytes or call_ms' "but they are told"
is "$(cectl runtimes | sed -n 's/^  \(calls\?[a-z_]*\) .*/\1/p' | sort | xargs)" \
	"call_bytes call_ms calls calls_at_once calls_ms" "limits are listed as --limit calls them"
exits 0 "the whole name of the protocol has its unit" cectl run -c 'print(1)' --limit wall_ms=2000
exits 124 "--timeout is the wall clock's limit" cectl run -c 'while True: pass' --timeout 100ms
like "$err" 'wall_limit' "and says so"
exits 124 "it is no limit of cpu time" cectl run -c 'while True: pass' --timeout 20s --limit cpu=200ms
like "$err" 'more than 200 ms of cpu time and was killed\. The option is --limit cpu=TIME\.' "whose option is named"
like "$(cectl run --help | tr -s ' \n' ' ')" '--timeout TIME .*limit of its own: --limit cpu=20s' "in the help of --timeout, too"
exits 126 "a time that is too long is asked of the option that it was given to" cectl run -c 'print(1)' --timeout 1h
like "$err" 'cectl: --timeout: must be at most' "by its name"
exits 125 "a size without a unit is asked about" cectl run -c 'print(1)' --limit memory=64
like "$err" 'memory: "64" has no unit: write 64k, 64m or 64g' "as a time is"
echo '[1, 2]' >data.json
exits 125 "a file's name is not JSON" cectl run reads.py --input data.json
like "$err" 'did you mean the file, @data.json\?' "but what was meant is known"

# --- what is not there -----------------------------------------------------------------------

exits 1 "a rule that no policy has is not an empty list" cectl policy show strict --rule python.imprt
like "$err" 'no rule of policy strict begins with "python.imprt"; did you mean python\.import' "and a near one is named"
exits 0 "the beginning of one is enough" cectl policy show strict --rule python.import
if [[ $(id -u) == 0 ]]; then
	exits 1 "who was not blocked is not unblocked" cectl unblock 4001
	like "$err" 'uid 4001 was not blocked' "which is said"
	exits 0 "a user is named" cectl block nobody
	exits 0 "and let in by the name" cectl unblock nobody
	exits 2 "nobody else is guessed" cectl block nobdy
	like "$err" 'this host has no user "nobdy"' "but said"
	exits 0 "lists take names of users, too" cectl runs --uid root
	chmod 777 "$(dirname "$CED_SOCKET")"
	chmod 666 "$CED_SOCKET"
	for uid in 4001 4002; do
		setpriv --reuid "$uid" --regid "$uid" --clear-groups cectl run -c 'print(1)' --task shared >/dev/null
	done
	setpriv --reuid 4001 --regid 4001 --clear-groups cectl run -c 'print(1)' --task nightly >/dev/null
	exits 0 "a task's budget is found whosever it is" cectl budgets reset --task nightly
	is "$out" 'the budget of task nightly of uid 4001 is reset' "and says whose"
	exits 2 "a name that two users have is asked about" cectl budgets reset --task shared
	like "$err" 'several users have task "shared": name one, --uid 400[12], 400[12]' "with both"
	exits 0 "--uid answers it" cectl budgets reset --task shared --uid 4002
fi
exits 1 "what nobody has spent cannot begin anew" cectl budgets reset --task nothing
like "$err" 'nothing was spent by task nothing' "which is said"

cectl run -c 'import random; print("".join(chr(random.randrange(33, 127)) for _ in range(200000)))' --policy strict >/dev/null 2>&1
cectl run -c 'import socket' --policy strict >/dev/null 2>&1
for _ in 1 2; do cectl run -c 'print("same" * 100000)' >/dev/null; done
cectl run -c 'print("kept")' >/dev/null
exits 1 "gc without a word of what to keep is refused" cectl gc
like "$err" 'cectl gc --older-than 90d, --keep-runs N or --keep-size 10G' "with its options"
planned=$(cectl gc --keep-runs 1 --dry-run --json)
done=$(cectl gc --keep-runs 1 --json)
is "$(json "$done" '[it["runs"], it["bytes"], it["until"]]')" "$(json "$planned" '[it["runs"], it["bytes"], it["until"]]')" \
	"gc frees what its dry run said, to the byte"
exits 1 "output that has left the store is not empty output" cectl output last~1
like "$err" 'contents of run [0-9A-Z]{26} have left the store: act [0-9]+ of cectl acts' "and says where it went"
exits 1 "neither is the program" cectl output last~1 --stream code
exits 1 "nor its end" cectl output last~1 --tail 1
exits 1 "nor as JSON" cectl output last~1 --json
is "$(json "$out" 'it["error"]["code"]')" missing "which is a document, too"
unlike "$(cectl show last~1)" 'more: cectl output' "and show does not send anybody there"
like "$(cectl trace last~1)" 'timeline has left the store' "nor does trace say that there never was one"
exits 0 "nor does diff" cectl diff last~1 last
like "$out" 'not compared: contents of [0-9A-Z]{26} have left the store' "take it for empty"
is "$(json "$(cectl diff last~1 last --json)" '[it["same"], it["pruned"]]')" '[false, true]' "or for the same"
is "$(json "$(cectl diff last~1 last --json)" '[fact["what"] for fact in it["differs"]
	if fact["left"] is None or fact["what"].startswith("pruned")]')" "[]" "or lists what is no longer there as other"
exits 0 "explain" cectl explain last~1 --json
is "$(json "$out" '[it["outcome"], it["happened"], it["change"]]')" '["ok", ["It ended well."], []]' "says what is still known"
like "$out" 'contents of the run have left the store \(act [0-9]+ of cectl acts\)' "and why it is no more"
exits 0 "empty output is" cectl run -c 'pass'
exits 0 "nothing to complain of" cectl output last

is "$(json "$(cectl output last --json)" 'len(it["run_id"])')" 26 "a document names the run, not the word for it"
running=$(cectl run -d -c 'input()
while True: pass' --limit wall=30s --limit cpu=30s --stdin words)
exits 1 "a run that has not ended has no output yet" cectl output "$running"
like "$err" "run $running has not ended \\(running\\): .*cectl wait $running" "which is said, with what to type"
exits 1 "nor as JSON" cectl output last --json
is "$(json "$out" '[it["run_id"], it["state"], it["data"]]')" "[\"$running\", \"running\", \"\"]" "which tells the state"
exits 0 "its program is there" cectl output "$running" --stream code
like "$out" 'while True' "as it came"
exits 0 "end it" cectl cancel "$running"
cectl wait "$running" >/dev/null 2>&1
exits 0 "then its output is what it wrote" cectl output "$running"

wait "$silent"
is "$?" 125 "a pipe that stays silent does not hold cectl for ever"
like "$(cat silent.err)" 'nothing came for 10 s.*--stdin -.*--stdin /dev/null' "and it says what to type"
like "$(cat silent.err)" 'reading stdin, which is a pipe that is open and silent' "as it did after a moment"
is "$(cat silent.out)" "" "and nothing ran"
exec 7>&-
done_testing
