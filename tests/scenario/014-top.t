#!/bin/bash
# cectl top on a real terminal, which it leaves as it was on every way out.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
only python
daemon_start

exits 2 "without a terminal" cectl top
like "$err" 'needs a terminal; --once' "it says what to do instead"
exits 0 "--once" cectl top --once
like "$out" 'ced [0-9.]+  pid [0-9]+, up ' "prints one page"
like "$out" 'RUNTIME +WARM +RUNNING' "with the workers"
unlike "$out" $'\033' "and moves no cursor"
exits 0 "--json" cectl top --json
is "$(json "$out" 'sorted(it)')" \
	'["at_us", "last", "refused", "running", "runtimes", "slowest", "status", "window_us"]' "is a document"
exits 2 "an interval of no length" cectl top --interval 0ms
exits 125 "a copy of a store" cectl top --store .
CED_SOCKET=/nowhere exits 125 "no daemon" cectl top

cectl run -c 'import time; time.sleep(40)' --limit wall=60s --agent sleeper >/dev/null 2>&1 &
sleeper=$!
cectl run -c 'print(1)' --agent 'naïve 世界' >/dev/null
cectl run -c 'import socket' --policy strict --agent nosy >/dev/null 2>&1
/usr/bin/python3 "$here/014-top.py" "$ced_spawner" >"$work/told" 2>&1
ok $? "on a terminal"
report "$work/told"
kill "$sleeper" 2>/dev/null
wait "$sleeper" 2>/dev/null
done_testing
