#!/bin/bash
# A program that was written for E2B's code interpreter runs with another import line.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/python_client.sh"
[[ $(id -u) == 0 ]] || skip_all "sessions need cgroups"
/usr/bin/python3 -c 'import matplotlib, pandas' 2>/dev/null || skip_all "no matplotlib and pandas here: ./dev setup data installs them"
patient_daemon 'runtime python-data { workers_min = 1 workers_max = 3 }'
sed 's/^from e2b_code_interpreter import/from ced.e2b import/' "$here/154-client-python-e2b.py" >program.py
is "$(diff "$here/154-client-python-e2b.py" program.py | grep -c '^[<>]')" 2 "one line is changed"
exits 0 "the program runs" /usr/bin/python3 program.py
is "$out" "heard rows 3 2
charts 1 of 2 main 400
chart line Sales (3, 200)
3,200,400
['out.csv', 'sales.csv'] b'month'
['error', 'logs', 'results'] ['rows 3\n'] 400
KeyError 'amuont'
Traceback (most recent call last):
200
False
3 mine
month,amount
heard 3,200
0 3,200
True
42 ['later\n'] in a file" "and gets callbacks, a chart, an error with traceback, files in and out, a second context, a command, and asyncio"
is "$(cectl session list 2>&1)" "cectl: no session is open" "and leaves no session"
done_testing
