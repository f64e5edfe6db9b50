#!/bin/bash
# What shells offer for a word of cectl that is not finished: commands, options, the words of schemas,
# and what the daemon knows.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
folder=$CED_SOURCE/cli/completion

# answers WORD...: the words that are offered for the last one, in one line.
answers() {
	cectl complete -- "$@" 2>"$work/err" | cut -f 1 | paste -sd' '
}

# Without a daemon.
is "$(answers ru)" "run runs runtimes" "commands that begin so"
tab=$'\t'
like "$(cectl complete -- ru)" "^run${tab}run a program" "each with its meaning"
is "$(answers audit '')" "export backup verify checkpoint key" "second words of a command"
is "$(answers run --lim)" "--limit" "options of a command"
is "$(answers show --j)" "--json" "options that all have"
is "$(answers run --cache '')" "off use refresh" "the words of an option, from the schema"
is "$(answers run --cache=us)" "--cache=use" "also behind ="
is "$(answers run -l python --on-output-limit t)" truncate "a value before it is skipped"
is "$(answers run script.py -- --lim)" "" "behind -- the words are the program's"
is "$(answers policy s)" show "the first operand of a command with several forms"
is "$(answers help sho)" show "help takes a command"
is "$(answers runs --outcome wa)" wall_limit "the words of a filter"
is "$(answers stats --by age)" agent "of what runs are counted by"
is "$(answers watch --kind st)" started "of a list"
is "$(answers run --limit mem)" "memory=" "limits, which a number follows"
is "$(answers runs --limit '')" "" "but a number has no words"
is "$(answers runs --columns run,ag)" "run,agent" "the last of several columns"
is "$(answers audit export --format '')" "json ocsf otlp" "forms"
is "$(answers mcp --config cur)" cursor "clients of MCP"
is "$(answers config explain queue_m)" "queue_max queue_ms" "settings"
is "$(answers config show limits.wall)" limits.wall_ms "with their sections"
is "$(answers show '')" last "last needs no daemon"
is "$(answers run --policy '')" "" "without a daemon there are no policies"
is "$(<"$work/err")" "" "and nothing on stderr"

daemon_start
id=$(cectl run --json --agent bot-1 -c 'print(1)' | json "$(cat)" 'it["run_id"]')
# shellcheck disable=SC2016 # a shell that gets the name is not to run it
cectl run --agent 'x;touch $(y)' -c 'print(1)' >/dev/null
session=$(cectl session open)
is "$(answers show "${id:0:24}")" "$id" "run ids"
like "$(cectl complete -- show "$id")" $'\tok$' "with their outcomes"
is "$(answers run --policy st)" "standard strict" "policies of the daemon"
is "$(answers policy show ob)" observe "where an operand is one too"
is "$(answers run -l pyth)" python "runtimes"
is "$(answers runs --agent '')" bot-1 "agents, but for a name that a shell would run"
is "$(answers run --session '')" "$session" "sessions"

# The shells.
bash_answers() {
	bash --norc -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cectl; echo "${COMPREPLY[*]}"' \
		- "$folder/cectl.bash" "$@"
}
is "$(bash_answers cectl run --policy st)" "standard strict" "bash"
is "$(bash_answers cectl run --policy = str)" strict "which makes three words of --policy=str"
is "$(bash_answers cectl run --cache =)" "off use refresh" "or two"
for shell in zsh fish; do
	file=$folder/cectl.fish
	[[ $shell != zsh ]] || file=$folder/_cectl
	if command -v "$shell" >/dev/null; then
		"$shell" -n "$file" 2>"$work/err"
		is "$? $(<"$work/err")" "0 " "$shell reads its script"
	else
		diag "$shell is not installed"
	fi
done
if command -v fish >/dev/null; then
	is "$(HOME=$work fish -c "source $folder/cectl.fish; complete -C 'cectl run --policy st'" | cut -f 1 | paste -sd' ')" \
		"standard strict" "fish"
fi
if command -v zsh >/dev/null; then
	cat >"$work/zsh" <<'END'
_describe() { print -l -- ${(P)3} }
_files() { print files }
words=(cectl run --policy st) CURRENT=4
complete() { . $1 }
complete $1
END
	is "$(zsh -f "$work/zsh" "$folder/_cectl" | sed 's/:.*//' | paste -sd' ')" "standard strict" "zsh"
fi

# A daemon that does not answer holds nobody up.
kill -STOP "$(pgrep -P "$ced_spawner" -x ced)"
timeout 20 cectl complete -- show '' >"$work/out" 2>"$work/err"
is "$? $(<"$work/out") $(<"$work/err")" "0 last " "a daemon that hangs costs half a second"
kill -CONT "$(pgrep -P "$ced_spawner" -x ced)"
cectl session close "$session" >/dev/null
done_testing
