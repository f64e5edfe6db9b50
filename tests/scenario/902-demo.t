#!/bin/bash
# The guided tour is short, honest and fits the screen.
. "$(dirname "$0")/lib.sh"
daemon_start

COLUMNS=80 exits 0 "the tour ends as it says" cectl demo
is "$(($(wc -L <<<"$out") <= 80))" 1 "it fits 80 columns"
ok "$([[ $(wc -l <<<"$out") -lt 120 ]]; echo $?)" "and is short"
like "$out" 'ok in [0-9.]+ (us|ms|s)' "the first act is ok"
like "$out" 'It was payments' "and its JSON became a brief"
like "$out" 'policy_denied' "the second is refused"
like "$out" 'line 2, column' "with rule and line"
like "$out" '65,536 bytes, exactly the limit' "the third is cut at the byte"
like "$out" '[0-9.]+ (us|ms) after the byte that passed it' "with the time to the kill"
like "$out" 'memory_limit' "the fourth runs out of memory"
like "$out" 'export CED_SOCKET=' "it says what to type next"
exits 0 "--json" cectl demo --json
is "$(json "$out" '[act["result"]["outcome"] for act in it["acts"]]')" \
	'["ok", "policy_denied", "output_limit", "memory_limit"]' "is one document"
done_testing
