#!/bin/bash
# What cectl shows of recorded runs.
. "$(dirname "$0")/lib.sh"
daemon_start

cat >faulty.py <<'PY'
rows = [1, 2, 3]
total = sum(rows)
print("total", total)
print(rows[total])
PY
cectl run -c 'print("first")' --agent one >/dev/null
cectl run faulty.py --agent two --task t-7 --label env=test >/dev/null 2>&1
cectl run -c 'import socket' --policy strict >/dev/null 2>&1
cectl run -c 'import sys; sys.stdout.write("\n".join(str(i) for i in range(10000)) + "\n")' >/dev/null

exits 0 "show last~2" cectl show last~2
like "$out" 'exception' "tells the outcome"
like "$out" 'IndexError' "and the exception"
like "$out" '▸ +4  print\(rows\[total\]\)' "marks the line"
like "$out" 'total 6' "shows the output"
like "$out" 'agent[[:space:]]+two, task t-7' "who asked"
like "$out" 'labels .*test' "with labels"
like "$out" 'memory +.*256 MiB' "the limits"
like "$out" 'HELD BY' "and what held them"
like "$out" 'total +[0-9.]+ (us|ms|s)' "and the time"
run_id=$(grep -oE '[0-9A-Z]{26}' <<<"$out" | head -n 1)
exits 0 "a unique beginning of the id does" cectl show "${run_id:0:25}"
exits 1 "one that is not unique is refused" cectl show 0
like "$err" 'not_found' "as not found"

exits 0 "a denied run shows" cectl show last~1
like "$out" 'none of its code ran' "that nothing ran"
like "$out" 'line 1, column' "rule, line and column"

exits 0 "explain" cectl explain last~2
like "$out" 'Uncaught IndexError at line 4: list index out of range' "says what happened"
like "$out" 'line 4: print\(rows\[total\]\)' "and where"
exits 0 "explain --json" cectl explain last~1 --json
is "$(json "$out" 'it["outcome"]')" policy_denied "is a document"
like "$(json "$out" '" ".join(it["change"])')" '[a-z]' "with what to change"

exits 0 "trace" cectl trace last~2
like "$out" 'policy ' "shows the phases"

exits 0 "diff" cectl diff last~3 last~2
like "$out" 'outcome +ok +exception' "says what is other"
like "$out" 'request.agent +one +two' "about who asked"
like "$out" '1 +- print\("first"\)' "about the program, line by line"
like "$out" '[0-9] +\+ print\(rows\[total\]\)' "both ways"
like "$out" 'total +[0-9.]+ (us|ms|s) +[0-9.]+ (us|ms|s)' "and how long it took"
exits 0 "diff --json" cectl diff last~2 last~2 --json
is "$(json "$out" '[it["same"], it["differs"], "code" in it]')" '[true, [], false]' "finds a run to be like itself"
exits 1 "diff with a run that is not there" cectl diff last nothing
exits 2 "diff with one run" cectl diff last

exits 0 "runs" cectl runs
like "$out" 'RUN +WHEN +OUTCOME' "is a table"
is "$(grep -c '^[0-9A-Z]\{26\}' <<<"$out")" 4 "with all of them"
COLUMNS=60 exits 0 "a narrow terminal" cectl runs
is "$(($(wc -L <<<"$out") <= 60))" 1 "gets narrow lines"
exits 0 "filters" cectl runs --outcome exception --agent two --since 1h --label env=test
is "$(grep -c '^[0-9A-Z]\{26\}' <<<"$out")" 1 "narrow the list"
exits 0 "pages" cectl runs -n 3
like "$err" '--before [0-9A-Z]{26}' "say how to go on"
exits 0 "the next page" cectl runs -n 3 --before last~2
is "$(grep -c '^[0-9A-Z]\{26\}' <<<"$out")" 1 "holds the rest"


# How runs are found.
runs() { # runs FILTER...: the outcomes of the runs that it finds, newest first
	cectl runs --json --limit 1000 "$@" |
		/usr/bin/python3 -c 'import json, sys; print(*(run["outcome"] for run in json.load(sys.stdin)["runs"]))'
}
is "$(runs --text 'total print')" exception "words of the program find it"
is "$(runs --text 'TOTAL 6')" exception "words of what it wrote, too"
is "$(runs --text IndexError)" exception "also on stderr"
is "$(runs --text '"list index"')" exception "words in quotation marks stand side by side"
is "$(runs --text '"index list"')" '' "and no other way"
is "$(runs --text 'socket first')" '' "all of them must be there"
is "$(runs --policy strict)" policy_denied "--policy"
is "$(runs --rule python.import.denied)" policy_denied "--rule"
is "$(runs --label env=test --agent two)" exception "--label and --agent together"
is "$(runs --since yesterday --until 1h)" '' "--until"
is "$(runs --since "$(date -d '5 minutes ago' +%Y-%m-%dT%H:%M)")" "ok policy_denied exception ok" "--since a moment"
exits 2 "a word that is no time" cectl runs --since soon
exits 2 "of two outcomes none is left out in silence" cectl runs --outcome ok --outcome exit
like "$err" '--outcome is given twice' "but said"
exits 0 "--columns" cectl runs --columns run,code,policy
like "$out" '^RUN +CODE +POLICY' "are those that were asked for"
exits 2 "a column that is not there" cectl runs --columns run,colour
like "$err" 'no column "colour"; there are: run when' "is refused with those that are"
exits 0 "--csv" cectl runs --csv --columns run,outcome,agent,time
is "$(head -n 1 <<<"$out")" $'run_id,outcome,agent,total_us\r' "begins with titles"
like "$out" '"[0-9A-Z]{26}","exception","two",[0-9]+' "and has values as they are"
is "$(wc -l <<<"$out")" 5 "of each run"
is "$(cectl runs --csv --all --columns all | wc -l)" 5 "--all needs no number"
is "$(cectl runs --csv --all --columns all | tr -d '\r' | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) print $i }' | sort | uniq -d)" \
	"" "each title stands once"
is "$(cectl runs --csv -n 1 --columns when,outcome,received | tail -n 1 | tr -cd ,)" , "as does its value"
cectl run -c 'print(1)' --agent '=cmd|x' --task $'a"b,c' >/dev/null
like "$(cectl runs --csv -n 1 --columns agent,task)" "\"'=cmd\|x\",\"a\"\"b,c\"" "a CSV harms no spreadsheet"
exits 2 "--csv with --json" cectl runs --csv --json
for ((n = 0; n < 7; n++)); do cectl run -c "print('page $n')" --agent pager >/dev/null; done
is "$(cectl runs --agent pager --all --json | grep -o '"run_id"' | wc -l)" 7 "--all with a filter"
exits 0 "the program again" cectl run -c 'import sys; sys.stdout.write("\n".join(str(i) for i in range(10000)) + "\n")'

exits 0 "output --head" cectl output last --head 2
is "$out" $'0\n1' "the first lines"
exits 0 "output --tail" cectl output last --tail 2
is "$out" $'9998\n9999' "the last lines"
for lines in 1 9999 10000 20000; do
	is "$(cectl output last --tail "$lines" | cksum)" "$(cectl output last | tail -n "$lines" | cksum)" "the last $lines"
done
cectl run --limit stdout=4M -c 'import sys; sys.stdout.write("ä" * 150001 + "\n" + "é" * 300000 + "\nend")' >/dev/null
is "$(cectl output last --tail 2 | cksum)" "$(cectl output last | tail -n 2 | cksum)" "lines of many letters"
is "$(cectl output last --tail 1)" end "and one without an end"
cectl run -c 'import sys; sys.stdout.write("\n".join(str(i) for i in range(10000)) + "\n")' >/dev/null

exits 0 "output --range" cectl output last --range 2:6
is "$out" $'1\n2' "bytes from the middle"
is "$(cectl output last --raw | sha256sum)" \
	"$(/usr/bin/python3 -c 'print("\n".join(str(i) for i in range(10000)))' | sha256sum)" \
	"output --raw is every byte"
exits 0 "output --stream code" cectl output "$run_id" --stream code
is "$out" "$(cat faulty.py)" "is the program"

# A copy of the store, without a daemon.
mkdir copy
cp "$ced_state/ced.db" "$ced_state/ced.db-wal" copy/
chmod 500 copy
before=$(ls -la --time-style=full-iso copy)
is "$(CED_SOCKET=/nowhere cectl --store copy runs --all --csv --columns run,outcome,code)" \
	"$(cectl runs --all --csv --columns run,outcome,code)" "--store lists what the daemon lists"
same() { # same COMMAND...: a copy says what the daemon says, but for where more is to be had
	is "$(cectl --store copy/ced.db "$@" | sed 's/ --store.*//; s/(.* ago)//')" \
		"$(cectl "$@" | sed 's/(.* ago)//')" "$1 of a run in it"
}
same diff "$run_id" last
for command in show trace explain; do same "$command" "$run_id"; done
same output "$run_id" --head 3
same output "$run_id" --stream code
is "$(cectl stats --store copy --by language --json)" "$(cectl stats --by language --json)" "stats over it"
is "$(cectl runs --store copy --text 'total 6' --csv --columns outcome | tail -n 1)" $'"exception"\r' "words in it"
is "$(ls -la --time-style=full-iso copy)" "$before" "and nothing was written there"
exits 1 "a run that is not in it" cectl --store copy show nothing
exits 125 "what only a daemon knows" cectl --store copy status
like "$err" 'status needs a daemon' "is refused in words"
exits 125 "running a program is, too" cectl --store copy run -c 'print(1)'
exits 125 "the store of a daemon that runs" cectl --store "$ced_state" runs
like "$err" 'a daemon writes to .*: ask the daemon, or a copy' "is no copy"
exits 125 "a file that is no store" cectl --store faulty.py runs
exits 125 "and none at all" cectl --store /nowhere runs

exits 0 "stats of one program" cectl stats --code-hash "$(printf 'print(1)' | sha256sum | cut -d' ' -f1)"
exits 0 "stats" cectl stats --since 1h
like "$out" '15 runs, 86.7 % ok' "counts"
for by in outcome language agent task policy uid phase; do
	exits 0 "stats --by $by" cectl stats --by "$by"
	like "$out" 'p50' "has percentiles"
done
cectl run -c 'import socket' --policy strict >/dev/null 2>&1
unlike "$(cectl show last)" 'cold worker' "what was denied had no worker"
exits 2 "an outcome that there is not" cectl runs --outcome fly
like "$err" 'must be one of .*"budget_exceeded"' "is told those that there are"
exits 2 "a file is no run" cectl show faulty.py
like "$err" 'RUN is an id, any unique beginning of one, last, or last~N' "and it says what is one"
exits 126 "a policy that does not exist" cectl run -c 1 --policy fly
like "$err" 'no policy "fly"; there are: .*strict' "too"
exits 0 "status" cectl status
like "$out" 'ced [0-9.]+ +pid [0-9]+, up ' "is one page"
exits 0 "runtimes" cectl runtimes
like "$out" 'python +3\.' "with versions"
exits 0 "check" cectl check faulty.py
like "$out" 'would run' "says what would be"
exits 126 "check of what is refused" cectl check -c 'import socket' --policy strict
like "$out" '▸ +1  import socket' "shows the line"
done_testing
