#!/bin/bash
# Which files a program opened, and how, as its slot notes it.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
daemon_start
/usr/bin/python3 -B "$here/309-files.py" || exit 1

echo "open('out.txt', 'w').write('x'); open('in.txt').read()" >job.py
echo hello >in.txt
cectl run job.py --file in.txt --trace-files >/dev/null
cectl show last >shown
if ! grep -q '/work/out.txt.*created, written' shown || ! grep -q '/work/in.txt.*read' shown; then
	echo "not ok - cectl shows them"
	cat shown
	exit 1
fi
