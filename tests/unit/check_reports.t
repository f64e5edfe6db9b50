#!/bin/bash
# What the harness says about checks that do not hold, and with which exit status it leaves.
set -u

sample=$CED_BUILD/tests/check_sample
tests=0

is() { # description, found, hoped
	tests=$((tests + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $tests - $1"
	else
		echo "not ok $tests - $1"
		printf '# is   %q\n# not  %q\n' "$2" "$3"
	fi
}

is "a run with failures exits with 1" "$("$sample" >/dev/null; echo $?)" 1
is "a run in which all is skipped exits with 77" "$("$sample" cannot_run >/dev/null; echo $?)" 77
is "a name that does not exist exits with 1" "$("$sample" nobody >/dev/null; echo $?)" 1
is "--list names all" "$("$sample" --list | wc -l)" 5
is "every result is one line" "$("$sample" | grep -v '^#')" "ok 1 - holds
not ok 2 - integers_differ
not ok 3 - texts_differ
ok 4 - cannot_run # SKIP no moon
not ok 5 - a_helper_fails
1..5"
is "integers are shown" "$("$sample" integers_differ | sed -n 's/.*: //p')" "1 + 1 is 2, not 3"
is "texts are shown" "$("$sample" texts_differ | sed -n '2,3p')" '#   is  "in"
#   not "(null)"'
echo "1..$tests"
