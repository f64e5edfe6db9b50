#!/bin/bash
# Tools on the command line: cectl runs a command for each call of a program, and shows the record.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start

exits 0 "a program calls a command of its caller" \
	cectl run -c 'print(tools.upper(text="quiet")["text"])' --tool 'upper=jq -c ".text |= ascii_upcase"'
is "$out" QUIET "with the arguments as JSON on stdin, and JSON back"
exits 0 "what is no JSON is a text" cectl run -c 'print(repr(tools.name()))' --tool 'name=printf "a b\n"'
is "$out" "'a b'" "without its last line break"
exits 0 "a tool that prints nothing" cectl run -c 'print(repr(tools.quiet()))' --tool 'quiet=cat >/dev/null'
is "$out" "''" "gives an empty text"
exits 0 "a command that fails is an error of the program" cectl run --tool 'bad=exit 3' -c '
try: tools.bad()
except tools.ToolError as error: print(error.code, error.message)'
is "$out" "failed the command ended with exit status 3" "with its exit status"
nested() { printf "printf '%%%ds' | tr ' ' '['; printf '%%%ds' | tr ' ' ']'" "$1" "$1"; }
exits 0 "an answer that nests too deep for the daemon, for a message, or for cectl" \
	cectl run --tool "deep=$(nested 50)" --tool "deeper=$(nested 62)" --tool "deepest=$(nested 99)" -c '
for tool in tools.deep, tools.deeper, tools.deepest:
    try: tool()
    except tools.ToolError as error: print(error.code, error.message)'
like "$out" '^failed the tool.s answer cannot be sent: message nests deeper than 32 levels' "is an error of the program at once, which says why"
is "$(grep -c '^failed .*\(nests deeper\|deep\)' <<<"$out")" 3 "in each of these cases"
exits 0 "node and --tools-as" cectl run -l js --tools-as async --tool 'one=echo 1' -c 'one().then((got) => console.log(got + 1))'
is "$out" 2 "work as well"
printf '{"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}' >schema.json
exits 0 "a schema comes from a file or from the line" \
	cectl run --tool a=cat --tool b=cat --tool-schema a=schema.json --tool-schema 'b={"maxProperties": 0}' -c '
for call in lambda: tools.a(id="x"), lambda: tools.b(id=1), lambda: tools.a(id=7):
    try: print(call())
    except tools.ToolError as error: print(error.code)'
is "$out" "$(printf '%s\n' bad_arguments bad_arguments "{'id': 7}")" "and holds"
exits 0 "a command that does not end" cectl run --limit call_ms=300 --tool 'slow=sleep 600' -c '
try: tools.slow()
except tools.ToolError as error: print(error.code)'
is "$out" timeout "is ended when its time is over"
exits 125 "a word without a command is refused" cectl run -c 1 --tool name
like "$err" 'NAME=COMMAND' "with its form"
exits 126 "and a name that none can have" cectl run -c 1 --tool a=cat --tool b-d=cat
like "$err" '--tool b-d: write a name of up to 64 letters, digits and _' "with which, and the rule"
exits 126 "and a name twice" cectl run -c 1 --tool a=cat --tool a=date
like "$err" '--tool a: another tool' "with which"
exits 126 "and more than a run can have" cectl run -c 1 --tool=t{1..65}=cat
like "$err" '^cectl: --tool: ' "without the name of one of them"
exits 126 "of an option that is given twice" cectl run -c 1 --policy strict --policy b@d
like "$err" '--policy "b@d": write a name' "the last counts, and is named"
exits 126 "and a schema that is none" cectl run -c 1 --tool a=cat --tool-schema 'a={"type": "objct"}'
like "$err" '--tool-schema a.*/type: ' "with the place"
exits 125 "and a limit of two kinds" cectl run -c 1 --limit call=1s
like "$err" 'call_bytes or call_ms' "with both"
exits 125 "and a schema of no tool" cectl run -c 1 --tool-schema name=true
like "$err" 'no --tool of this name' "which it says"
cectl run -c 'tools.upper(text="shown")' --tool 'upper=jq -c ".text |= ascii_upcase"'
exits 0 "cectl show" cectl show last
like "$out" 'calls of tools.*upper.*shown.*SHOWN' "has the calls with arguments and results"
like "$out" ' call_ms .* calls_ms ' "and each limit has its own name"
exits 0 "cectl trace" cectl trace last
like "$out" 'call.made.*upper: 1' "has how many there were"
like "$out" 'calls of tools.*AFTER +CALL +TOOL +VERDICT.* ms +1 +upper +allowed +ok .*"text"' "and each with its time, verdict, outcome and arguments"
is "$(json "$(cectl trace last --json)" '[(row["tool"], row["verdict"]) for row in it["tool_calls"]]')" '[["upper", "allowed"]]' "as JSON, too"
exits 0 "an export" cectl audit export
like "$out" '"tool_calls":\[\{"call":1,"tool":"upper"' "has them"
exits 0 "an export without contents" cectl audit export --no-contents
like "$out" '"tool_calls":\[\{"call":1,"tool":"upper","effects":true' "has them too"
ok "$([[ $out != *SHOWN* ]]; echo $?)" "but not what they said"
exits 0 "the record" cectl audit verify
like "$out" 'no change found' "verifies"
exits 0 "cectl replay asks the command that it is given" cectl replay last --tool 'upper=jq -c ".text |= ascii_upcase"'
last=$(json "$(cectl show last --json)" "it['run_id']")
exits 2 "and no empty one" cectl replay last --tool 'upper='
like "$err" '--tool upper=: it is written as NAME=COMMAND' "with the form"
exits 2 "and no name that the run did not have" cectl replay last --tool 'uper=cat'
like "$err" 'no tool "uper"; did you mean upper\?; it has: upper' "which says those that it has"
is "$(json "$(cectl show last --json)" "it['run_id']")" "$last" "and nothing ran"
exits 0 "without --tool calls get the answers of the record" cectl replay last
like "$out" '1 of 1 calls.*answered from the record' "which it says"
is "$(json "$(cectl show --json last)" '[it["calls"]["recorded"], [(row["verdict"], row["result"]) for row in it["tool_calls"]]]')" '[1, [["recorded", {"text": "SHOWN"}]]]' "and the new record, too"
exits 0 "cectl gc takes the contents away" cectl gc --keep-runs 1
exits 0 "the record" cectl audit verify
like "$out" 'no change found' "verifies still"
done_testing
