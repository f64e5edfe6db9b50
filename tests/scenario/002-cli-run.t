#!/bin/bash
# cectl run: a program's output, input and exit status become those of cectl.
. "$(dirname "$0")/lib.sh"
daemon_start

exits 0 "a program runs" cectl run -c 'print(6 * 7)'
is "$out" 42 "its stdout is passed through"
is "$err" "" "and nothing is added when it is ok"

exits 3 "its exit code is passed on" cectl run -c 'import sys; print("bye", file=sys.stderr); sys.exit(3)'
like "$err" '^bye' "after its stderr"
like "$err" 'cectl: exit: .*run [0-9A-Z]{26}; more: cectl show [0-9A-Z]{26}' "one line tells the rest"
exits 1 "an exception exits with 1" cectl run -c '1 / 0'
like "$err" 'ZeroDivisionError' "with the traceback"
like "$err" 'cectl: exception: ' "and the outcome"
exits 1 "so does a syntax error" cectl run -c 'print('
like "$err" 'cectl: syntax_error: ' "with its own outcome"

printf 'import sys\nprint(sys.argv, input(), open("data.txt").read(), end="")\n' >program.py
echo hello >words
echo -n inside >local.txt
exits 0 "a file runs with arguments, stdin and files" \
	cectl run program.py --stdin words --file local.txt:data.txt -- --fast 'a b'
is "$out" "['program.py', '--fast', 'a b'] hello inside" "all of them arrive"
out=$(echo 'print("piped")' | cectl run -)
is "$out" piped "a program may come from stdin"
out=$(echo 'print("piped")' | cectl run)
is "$out" piped "without saying so, too"
exits 0 "input is one JSON document" \
	cectl run -c 'import json; print(json.loads(input())["a"])' --input '{"a": [1, 2]}'
is "$out" '[1, 2]' "that the program can read"
exits 0 "the environment is what was given" \
	cectl run -c 'import os; print(os.environ["COLOUR"], "USER" in os.environ)' --env COLOUR=blue
is "$out" 'blue False' "and nothing of ours"

cectl run -c 'import sys; sys.stdout.buffer.write(bytes(range(256)))' >bytes.out
/usr/bin/python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(256)))' >bytes.hoped
cmp -s bytes.out bytes.hoped
ok $? "every byte goes into a file as it is"

exits 124 "the wall clock limit exits with 124" cectl run -c 'while True: pass' --limit wall=300ms
like "$err" 'cectl: wall_limit: ' "and says so"
exits 123 "the output limit exits with 123" cectl run -c 'while True: print("x" * 1000)' --limit stdout=4K
is "${#out}" 4096 "exactly the limit was kept"
exits 137 "the memory limit exits with 137" \
	cectl run -c 'x = bytearray(400 << 20)' --limit memory=64M
like "$err" 'cectl: memory_limit: ' "and says so"
exits 139 "a signal exits with 128 and its number" \
	cectl run -c 'import os, signal; os.kill(os.getpid(), signal.SIGSEGV)' --policy observe
exits 126 "the policy refuses with 126" cectl run -c 'import socket' --policy strict
like "$err" 'cectl: policy_denied: ' "and says so"
exits 126 "the contract refuses with 126" cectl run -c 1 --entrypoint ../main.py
like "$err" '^cectl: --entrypoint: must be' "and names the key, once"
exits 127 "an unknown language exits with 127" cectl run -l cobol -c 1

cat >schema.json <<'JSON'
{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
JSON
exits 0 "output that satisfies a schema is ok" cectl run -c 'print("{\"n\": 1}")' --schema schema.json
exits 122 "output that does not exits with 122" cectl run -c 'print("{\"n\": \"x\"}")' --schema schema.json
like "$err" 'cectl: output_invalid: ' "and says so"
exits 0 "a schema that is true takes every value" cectl run -c 'print(1)' --schema true
exits 122 "a schema that is false takes none" cectl run -c 'print(1)' --schema false
cat >schema7.json <<'JSON'
{"$schema": "http://json-schema.org/draft-07/schema#",
 "items": [true, {"$ref": "https://example.org/text"}],
 "definitions": {"text": {"$id": "https://example.org/text", "type": "string"}}}
JSON
exits 122 "a schema may be of draft 7, and refer to a document that it brings along" \
	cectl run -c 'print("[1, 2]")' --schema schema7.json
like "$err" '/1: must be string' "and its complaint has its place"

exits 0 "a truncated stream keeps head and tail" \
	cectl run -c 'for i in range(2000): print(i)' --limit stdout=200 --on-output-limit truncate
like "$out" '^0
1
' "the beginning"
like "$out" '1999$' "and the end"
like "$err" 'bytes of stdout left out here' "and what is missing is told on stderr"
done_testing
