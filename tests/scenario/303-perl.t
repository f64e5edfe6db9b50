#!/bin/bash
# A runtime that is nothing but a section of the configuration: examples/perl.conf.
# shellcheck disable=SC2016 # what stands in single quotes is for perl
. "$(dirname "$0")/lib.sh"
[[ -x /usr/bin/perl && -d /usr/lib/x86_64-linux-gnu/perl-base ]] ||
	skip_all "there is no perl of Debian's here"
examples=${CED_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}/examples
mkdir "$work/policies"
cp "$examples/policies/perl.json" "$work/policies/"
{
	printf 'cgroups = "auto"\npolicies = "%s/policies"\nworkers_min = 2\n' "$work"
	cat "$examples/perl.conf"
} >"$work/ced.conf"
chmod -R a+rX "$work"
ced_arguments=(--config "$work/ced.conf")
daemon_start

perl_run() { # exit code, name, arguments
	local hoped=$1 name=$2
	shift 2
	exits "$hoped" "$name" cectl run -l perl --policy perl "$@"
}

perl_run 0 "a program runs" -c 'print "hello ", 6 * 7, " $0 @ARGV\n"' -- a b
is "$out" "hello 42 main.pl a b" "under its file's name"
perl_run 0 "with the modules that come with perl" \
	-c 'use strict; use List::Util qw(sum); use POSIX qw(floor); print sum(1 .. 4), floor(2.5)'
is "$out" 102 "of both kinds"
perl_run 0 "stdin is its own" -c 'local $/; print length(<STDIN>)' --input '[1,2]'
is "$out" 5 "to the last byte"
perl_run 3 "its exit code is the run's" -c 'exit 3'
perl_run 255 "it may die" -c $'my $x = 1;\ndie "no good" if $x;'
like "$err" "no good at main.pl line 2" "with a word"

it=$(cectl run --json -l perl --policy perl -c $'my $x = 1;\ndie "no good" if $x;' 2>/dev/null)
is "$(json "$it" '[it["outcome"], it["error"]["message"], it["error"]["line"], it["error"]["text"]]')" \
	'["exception", "no good", 2, "die \"no good\" if $x;"]' "that becomes the result's error"
is "$(json "$it" '[it["policy"]["decision"], it["policy"]["findings"][0]["rule"]]')" \
	'["observe", "policy.unread"]' "and that nobody read it is noted"
it=$(cectl run --json -l perl --policy perl -c $'print 1 +;\n' 2>/dev/null)
is "$(json "$it" '[it["outcome"], it["error"]["type"], it["error"]["line"]]')" \
	'["exception", "SyntaxError", 1]' "text that is no program, too"
it=$(cectl run --json -l perl --policy perl -c 'print system("ls") == -1 ? "no" : "yes"' 2>/dev/null)
is "$(json "$it" 'it["stdout"]')" no "it can start nothing"
exits 126 "no other policy lets it run" cectl run -l perl -c 'print 1'
like "$err" "policy.language_denied_policy" "and says so"
like "$(cectl runtimes)" "perl +perl 5[.]" "runtimes tell it"
done_testing
