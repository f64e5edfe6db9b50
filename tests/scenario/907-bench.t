#!/bin/bash
# The benchmark of unseen programs still measures: what it writes, and what it says of a ratio that
# has become worse.  No check here depends on how long anything takes.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
/usr/bin/python3 -c 'import msgpack' 2>/dev/null || skip_all "python3-msgpack is not installed"
daemon_start

# shellcheck disable=SC2317 # exits() calls it
bench() {
	/usr/bin/python3 -B "$here/../../bench/programs.py" --daemon "$CED_SOCKET:$ced_spawner" \
		--state "$work" --set programs --only=-machine --rounds 1 "$@"
}

exits 0 "programs are measured, by themselves and from many clients" \
	bench --seconds 0.3 --json "$work/first.json" --svg "$work/first.svg"
like "$out" 'python3 -c .*warm, no jail .*ced ' "each way has a row"
like "$out" 'ced, the loop .*inspectors .*workers ' "each kind of process has its cost"
like "$out" 'record_us: the record' "the phases are there"
like "$out" ' 1 client .*80% of the closed rate' "and both loops"
is "$(awk 'length > 100 && !/\.pth/' <<<"$out")" "" "no line is longer than 100 columns"

first=$(<"$work/first.json")
is "$(json "$first" 'sorted(it["sets"])')" '["programs"]' "the JSON has the set"
is "$(json "$first" 'it["sets"]["programs"]["ways"]["ced"]["failed"]')" 0 "in which no run failed"
is "$(json "$first" 'all(it["sets"]["programs"]["floor"][part]["p50"] > 0 for part in ("sync", "wake"))')" \
	true "and the floor"
is "$(json "$first" 'sum(cost["faults"] for cost in it["sets"]["programs"]["ways"]["ced"]["costs"].values()) > 0')" \
	true "and what a run costs"
is "$(json "$first" 'it["sets"]["programs"]["ways"]["ced"]["costs"]["inspectors"]["switches"] > 0')" \
	true "the inspectors are known as such, and have worked"
exits 0 "the drawing is XML" /usr/bin/python3 -c \
	'import sys, xml.dom.minidom as dom; assert dom.parse(sys.argv[1]).getElementsByTagName("rect")' \
	"$work/first.svg"

# Ratios a thousand times as large or as small as any that can be measured.
doctored() {
	json "$first" "[row.update({key: row[key] * $1 for key in (\"ratio\", \"cpu_ratio\", \"faults_ratio\")
		if row[key]}) for row in it[\"sets\"][\"programs\"][\"ways\"].values()] and it"
}
doctored 1000 >"$work/slow.json"
doctored 0.001 >"$work/fast.json"
# shellcheck disable=SC2317 # exits() calls it
compared() {
	bench --seconds 0 --without bubblewrap --without firejail --without crun --without runc "$@"
}
exits 0 "a measurement that is no worse than an earlier one passes" compared --compare "$work/slow.json"
like "$out" 'No ratio is worse by more than 10 %' "and says so"
exits 1 "one that is worse fails" compared --compare "$work/fast.json"
like "$out" 'Worse: in the set programs, the p50 of ced beside the interpreter is ' "with a sentence"
exits 0 "unless so much worse is allowed" compared --compare "$work/fast.json" --percent 100000000

exits 0 "a measurement compared with itself passes" /usr/bin/python3 -B -c '
import json, sys
sys.path.insert(0, sys.argv[1])
import comparison
it = json.load(open(sys.argv[2]))
sys.exit(comparison.compare(it, it, 10))' "$here/../../bench" "$work/first.json"

exits 0 "a runtime that the daemon does not have is left out" bench --seconds 0 --set numpy
like "$out" 'numpy: left out: the daemon has no runtime python-data' "with a line that says so"
done_testing
