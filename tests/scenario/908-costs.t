#!/bin/bash
# What a run costs, in things that can be counted: system calls and page faults.  A busy machine
# changes none of them.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
[[ $(id -u) == 0 ]] || skip_all "only root may trace a jail"
command -v strace >/dev/null || skip_all "strace is missing"
# Before Linux 6.14 each range of pages is a call of its own.
[[ $(printf '%s\n' 6.14 "$(uname -r)" | sort -V | head -n 1) == 6.14 ]] || skip_all "the kernel is older"
daemon_start
/usr/bin/python3 "$here/908-costs.py" "$ced_spawner" "$work/trace" "$here/908-costs.json" "$here/../../bench/programs"
