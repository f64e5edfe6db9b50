#!/bin/bash
# What a program is told of the machine it runs on, and tools that decide by it.
# shellcheck disable=SC2016 # what stands in single quotes is for the program
. "$(dirname "$0")/lib.sh"
daemon_start

# sort(1) takes as much memory as it believes to be free, and else writes temporary files.
is "$(cectl run -l bash -c 'seq 50000 | sort | tail -n 1')" 9999 "sort sorts 50,000 lines"
is "$(cectl run -l bash -c 'seq 50000 | sort -n -r | head -n 1' --limit memory=64m 2>&1)" 50000 "in little memory too"

asked='import os
page = os.sysconf("SC_PAGESIZE")
total, free = os.sysconf("SC_PHYS_PAGES") * page, os.sysconf("SC_AVPHYS_PAGES") * page
print(total >> 20, 0 < free < total, os.getloadavg())'
is "$(cectl run -c "$asked" --limit memory=200m)" '200 True (0.0, 0.0, 0.0)' "a program of Python is told its limit of memory"
is "$(cectl run -c "$asked" --limit memory=300m)" '300 True (0.0, 0.0, 0.0)' "another run is told another one"
is "$(cectl run -l javascript --limit memory=200m -c 'const os = require("os")
console.log(os.totalmem() >> 20, os.freemem() > 0 && os.freemem() < os.totalmem(), os.loadavg())')" \
	'200 true [ 0, 0, 0 ]' "a program of node as well"
is "$(cectl run -l bash -c 'nproc')" "$(cectl run -c 'import os; print(os.cpu_count())')" \
	"bash and Python count the same processors"

# The kernel itself would tell of the host.
is "$(cectl run -c 'import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(99, ctypes.create_string_buffer(256)), errno.errorcode[ctypes.get_errno()])')" '-1 EPERM' \
	"the system call is refused"

# Synchronous writes wait for a pipe that is full.
big='const fs = require("fs")
const text = "z".repeat(300000)
const wrote = fs.writeSync(1, text)
fs.writeFileSync(1, text)
fs.writeFileSync("/dev/stdout", text)
process.stderr.write(`${wrote}`)'
for turn in 1 2 3; do
	is "$(cectl run -l javascript -c "$big" 2>&1 >"$work/out") $(wc -c <"$work/out")" '300000 900000' \
		"writes of node to a descriptor lose nothing, $turn"
done
is "$(cectl run -l javascript -c 'require("fs").writeSync(2, "z".repeat(200000))' 2>&1 >/dev/null | wc -c)" 200000 \
	"nor those to stderr"
done_testing
