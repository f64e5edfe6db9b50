#!/bin/bash
# The C client against the cases that all clients share, and against cases about its runner.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/python_client.sh"
[[ $(id -u) == 0 ]] || skip_all "sessions need cgroups"
patient_daemon

"$CED_BUILD/tests/client_conformance" "${cases[@]}" >"$work/said" 2>&1
ok $? "$(grep -c '^ok' "$work/said") cases with the C client"
grep -v '^ok' "$work/said" | sed 's/^/# /'

# A case that expects something else fails.
/usr/bin/python3 "$here/164-wrong-cases.py" >wrong.json
said=$("$CED_BUILD/tests/client_conformance" wrong.json)
is "$(grep -c '^not ok' <<<"$said")" "$(grep -c '"wrong ' wrong.json)" "a case that expects something else fails"
like "$said" 'ok [0-9]+ - skipped # SKIP this daemon has no runtime cobol' "and one that cannot run is skipped with its reason"
exits 0 "the record holds" cectl audit verify
done_testing
