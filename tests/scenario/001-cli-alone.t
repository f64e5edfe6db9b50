#!/bin/bash
# What cectl says when no daemon is there, and when it is used wrongly.
. "$(dirname "$0")/lib.sh"

exits 0 "cectl alone lists its commands" cectl
like "$out" 'run a program in a jail' "with what they do"
exits 0 "every command has a page of help" cectl help run
like "$out" 'Examples:' "with examples"
like "$out" '137 +memory limit' "and exit codes"
for command in run check wait cancel runs show trace output stats status runtimes doctor demo; do
	exits 0 "cectl $command --help" cectl "$command" --help
	is "$(($(wc -L <<<"$out") <= 100))" 1 "its lines are short"
done
exits 0 "cectl --version" cectl --version
like "$out" '^cectl [0-9]+\.[0-9]+\.[0-9]+$' "tells one"

exits 2 "an unknown command is refused" cectl fly
like "$err" 'there is no command fly' "by name"
exits 0 "the first of two words has help" cectl audit --help
like "$out" 'cectl audit verify +check the record' "with what can follow"
exits 2 "alone it is no command" cectl audit
like "$err" 'audit needs one more word' "and says so"
exits 2 "nor with another second one" cectl audit fly
like "$err" 'no command audit fly.*cectl audit verify' "which is named, with those that there are"
exits 2 "nor is policy" cectl policy
like "$err" 'policy needs one of: list, show NAME, test FILE' "it says of what"
exits 2 "a stream that does not exist is refused" cectl output last --stream fly
like "$err" 'stdin, code, artifact:PATH and file:PATH' "with those that there are"
like "$(cectl runs --help)" '--store FILE' "what a copy can answer says so"
unlike "$(cectl status --help)" '--store FILE' "what it cannot does not"
exits 2 "an unknown option is refused" cectl runs --sinse 1h
like "$err" 'did you mean --since' "with a guess"
exits 2 "a time that is none is refused" cectl runs --since soon
like "$err" 'not a time such as 1h' "with examples"
exits 125 "a limit that does not exist is refused" cectl run -c 1 --limit wal=1s
like "$err" 'did you mean wall\?' "with their names"
exits 125 "a size that is none is refused" cectl run -c 1 --limit memory=lots
like "$err" '"lots" is not a size' "by what it says"
exits 125 "input that is no JSON is refused" cectl run -c 1 --input '{'
like "$err" 'line 1, column' "with its place"
exits 125 "a program that cannot be read is named" cectl run missing.py
like "$err" 'cannot read missing.py' "with the reason"
exits 125 "an option that is the program's own" cectl run missing.py --fast
like "$err" "no option --fast; the program's own options go behind --" "has its place"
exits 2 "one run is not two" cectl diff last
like "$err" 'it needs RUN RUN' "and says so"
exits 125 "two programs are one too many" cectl run -c 1 other.py
like "$err" 'which of them is the program' "it says"

exits 125 "without a daemon it says so" cectl run -c 1
like "$err" "no daemon answers at $CED_SOCKET" "where it looked"
like "$err" 'systemctl start ced' "and what to do"
exits 125 "with --json the error is a document" cectl runs --json
is "$(json "$out" 'it["error"]["code"]')" closed "with a stable word"
exits 2 "so is that of a wrong command line" cectl runs --fly --json
is "$(json "$out" 'it["error"]["code"]')" usage "wherever --json stands"
for words in "fly --json" "--json fly" "audit --json" "--json audit fly" "--fly --json"; do
	# shellcheck disable=SC2086 # several words
	exits 2 "cectl $words is wrong" cectl $words
	is "$(json "$out" 'it["error"]["code"]')" usage "and says so in a document"
done
done_testing
