#!/bin/bash
# cectl and what runs display: text for people, bytes for files, and nothing that moves a terminal.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start

# shellcheck disable=SC2016 # the programs are Python
nasty='display.mime({"image/png": b"\x89PNG\x1b[31m\x00", "text/plain": "pic\x1b[31m\x9b\u202e"})
print("printed")
display.mime({"text/html": "<script>\x1b]0;x\x07</script>"})
[1, "x"]'
escaped='pic\x1b[31m'

is "$(cectl run --display -c '6 * 7')" 42 "the value of the last expression is printed"
exits 3 "the exit status is the program's" cectl run --display -c 'import sys; display(1); sys.exit(3)'
cectl run --display -c "$nasty" >"$work/out" 2>"$work/err"
like "$(cat "$work/out")" '^printed' "after what the program printed"
like "$(cat "$work/out")" "\[1, 'x'\]" "text is shown"
exits 0 "escaped, also in a pipe" grep -qF "$escaped" "$work/out"
exits 1 "other types are not shown" grep -q script "$work/out"
exits 1 "no control character is" grep -q "$(printf '\033')" "$work/out" "$work/err"
like "$(cat "$work/err")" 'displayed more than text: cectl show .* --display 1' "a note says where the rest is"
is "$(cectl run --display --stream -c 'display(1); display(2)
3')" $'1\n2\n3' "with --stream each item is shown once"
run=$(cectl runs --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][1]["run_id"])')

shown=$(cectl show "$run")
like "$shown" 'image/png' "show lists the types"
like "$shown" '10 B' "and their sizes"
like "$shown" 'main +8 B +text/plain' "and which is the value"
unlike "${shown#*── display}" 'script' "not what is in them"
is "$(cectl output "$run" --display 1 | od -An -tx1 | tr -d ' \n')" 89504e471b5b33316d00 "output writes the bytes of a picture"
is "$(cectl output "$run" --display 1 --type text/plain | od -An -tx1 | tr -d ' \n')" 7069631b5b33316dc29be280ae "or another type of it"
is "$(cectl output "$run" --display 3)" '[1,"x"]' "JSON as text"
like "$(cectl output "$run" --display 2)" '<script>' "HTML"
exits 1 "an item that is not there" cectl output "$run" --display 99
like "$err" 'no item 99 in its display, which has [0-9]+$' "is told with how many there are"
exits 1 "a type that an item lacks" cectl output "$run" --display 2 --type image/gif
like "$err" 'has no image/gif; it has .*text/html' "is told with those that it has"
is "$(cectl output "$run" --display 2 --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["stream"])')" \
	display:2:text/html "and as a document"
exits 1 "there is no fourth item" cectl output "$run" --display 4
exits 1 "nor another type" cectl output "$run" --display 1 --type a/b
exits 2 "items count from 1" cectl output "$run" --display 0
exits 2 "a type is of an item" cectl output "$run" --type text/plain
exits 2 "an item is no stream" cectl output "$run" --display 1 --stream stdout
on_terminal() { script -qec "$*" /dev/null </dev/null | tr -d '\r'; }
if command -v script >/dev/null; then
	like "$(on_terminal cectl output "$run" --display 1)" 'not for a terminal' "a picture is kept from a terminal"
	like "$(on_terminal cectl output "$run" --display 1 --type text/plain)" 'pic\\x1b\[31m' "text is escaped there"
	unlike "$(NO_COLOR=1 on_terminal cectl output "$run" --display 2)" "$(printf '\033')" "HTML too"
else
	ok 0 "a terminal # SKIP there is no script(1)"
fi
exits 0 "bash displays by a program" cectl run --display -l bash -c 'echo "<b>one</b>" | ced-display text/html'
is "$(json "$(cectl show --json last)" '[list(item["data"]) for item in it["display"]]')" '[["text/html"]]' "which the record has"
cectl run --display --json -c '[1]' >"$work/json"
is "$(/usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["display"][0]["data"]["application/json"])' <"$work/json")" '[1]' \
	"--json has all of it"
like "$(cectl run --display -c 'display(1)
import os
os.write(display.__globals__["current"].fd, b"x")' 2>&1)" 'could not be read' "what is broken is said"
like "$(cectl run --display --limit display=1k --on-output-limit truncate -c 'display("x" * 2000)
print(1)' 2>&1)" 'was left out' "and what is missing"

# The record without its contents, and a copy of it.
cectl audit backup "$work/copy" >/dev/null
is "$(cectl output "$run" --store "$work/copy" --display 3)" '[1,"x"]' "a copy of the record has it"
exits 0 "contents are deleted" cectl gc --older-than now --reason test
exits 1 "its display, too" cectl output "$run" --display 3
like "$(cectl show "$run")" 'image/png' "the record still says what there was"
exits 0 "and verifies" cectl audit verify
done_testing
