#!/bin/bash
# An interpreter under a name of its own, and a policy of the house.
. "$(dirname "$0")/lib.sh"
mkdir "$work/policies"
cat >"$work/ced.conf" <<END
cgroups = "auto"
policies = "$work/policies"
runtime science {
	interpreter = "/usr/bin/python3"
	preload = {"json", "statistics"}
	binds = {"/usr/share/common-licenses"}
}
runtime misfit {
	kind = "node"
	interpreter = "/usr/bin/perl"
	workers_min = 1
}
END
# Interpreters whose names are links: in one folder, and by way of another one.
cat >>"$work/ced.conf" <<END
runtime shell {
	kind = "command"
	interpreter = "/bin/sh"
	workers_min = 1
}
runtime lines {
	kind = "command"
	interpreter = "/usr/bin/awk"
	args = {"-f"}
	workers_min = 1
}
END
cat >"$work/policies/foreign.json" <<'END'
{ "name": "foreign", "description": "languages without rules", "extends": "observe", "unread": ["shell", "lines"] }
END
cat >"$work/policies/house.json" <<'END'
{
  "name": "house",
  "description": "strict, and numpy",
  "extends": "strict",
  "rules": { "python.import.star": "observe" },
  "lists_add": { "python.imports": ["numpy", "numpy.*"] }
}
END
chmod -R a+rX "$work"
ced_arguments=(--config "$work/ced.conf")
daemon_start

exits 0 "a program asks for it by its name" \
	cectl run -l science -c 'import statistics; print(statistics.mean([1, 2, 3]))'
is "$out" 2 "and runs"
exits 0 "it may read what was bound" cectl run -l science \
	-c 'print(len(open("/usr/share/common-licenses/Apache-2.0").read()) > 0)'
exits 1 "which programs of the other may not" \
	cectl run -c 'open("/usr/share/common-licenses/Apache-2.0")'
exits 126 "its programs are held against the same rules" \
	cectl run -l science --policy strict -c 'import os'
like "$err" "python.import.denied" "of their language"
is "$(json "$(cectl runs --json --language science)" 'len(it["runs"])')" 3 "and recorded under its name"

exits 0 "the policy of the house allows what it adds" cectl check --policy house -c 'import numpy'
exits 0 "observes what it says" cectl check --policy house -c 'from math import *'
exits 126 "and denies what it took over" cectl check --policy house -c 'import os'

# shellcheck disable=SC2016 # the program expands it
is "$(cectl run -p foreign -l shell -c 'echo "$((6 * 7))"' 2>&1)" 42 "an interpreter whose name is a link starts"
is "$(cectl run -p foreign -l lines -c 'BEGIN { print 6 * 7 }' 2>&1)" 42 "also when that leads to another link"

grep -q '/usr/bin/perl: symbol lookup error: .*ced-node' "$ced_log"
ok $? "what an interpreter that cannot start says is in the log"
done_testing
