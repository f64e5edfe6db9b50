#!/bin/bash
# A notebook of thirty cells: data frames, plots, an exception, an endless loop, a fork, a rollback, files.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
[[ $(id -u) == 0 ]] || skip_all "an ordinary user may lack cgroups that can be frozen"
/usr/bin/python3 -c 'import matplotlib, pandas' 2>/dev/null || skip_all "this host lacks matplotlib or pandas"
printf 'runtime python-data { workers_min = 1 workers_max = 2 }\n' >"$ced_folder/ced.conf"
chmod a+r "$ced_folder/ced.conf"
ced_arguments=(--config "$ced_folder/ced.conf")
daemon_start
/usr/bin/python3 "$here/372-notebook.py" >"$work/said" 2>&1
ok $? "$(grep -c '^ok' "$work/said") checks"
report "$work/said"
verdict=$(cectl audit verify 2>&1)
ok $? "the record holds" "$verdict"
done_testing
