"""Counts what runs cost and compares it with 908-costs.json: at most a tenth more.

Who makes a run cheaper or, for a good reason, dearer writes the new numbers, which are printed, to that file.
"""

import collections
import json
import os
import re
import signal
import subprocess
import sys

from wire import Client, children, command, daemon_pid, done, ok, wait_until

spawner, trace, kept_in, programs = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
client = Client()
RUNS = 12
MORE = 1.1  # so much more is a loss; less than one call of a kind is none

# How often a process waits, and looks at the clock for it, depends on the others.
WAITS = {"epoll_wait", "epoll_pwait", "futex", "poll", "ppoll", "clock_gettime", "restart_syscall", "sched_yield"}


def ready():
    return all(runtime["warm"] >= runtime["wanted"] for runtime in client.call("runtimes")["runtimes"])


def settled():
    """Whether nothing runs any more, and all workers are warm, twice in a row."""
    return ready() and not wait_until(lambda: not ready(), 0.3)


def roles():
    """Each thread that is there now, by what it is.  Processes that come later are workers."""
    found = {}
    daemon = daemon_pid(spawner)
    for pid in [spawner, *children(spawner)]:
        name = "daemon" if pid == daemon else "inspector" if "inspector" in command(pid) else "slot"
        for thread in os.listdir(f"/proc/{pid}/task"):
            found[int(thread)] = name
    return found


def faults():
    """Page faults of the processes of slots, and of all that they have waited for."""
    total = 0
    for pid in children(spawner):
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        total += int(fields[7]) + int(fields[8])
    return total


def is_attached(tracer, pids):
    def traced_by(pid):
        with open(f"/proc/{pid}/status") as file:
            return f"TracerPid:\t{tracer.pid}\n" in file.read()

    return all(map(traced_by, pids))


class Tracer:
    """strace on the daemon and all its children; count() is of what happens meanwhile."""

    def __init__(self):
        self.who = roles()
        pids = [spawner, *children(spawner)]
        arguments = [word for pid in pids for word in ("-p", str(pid))]
        self.strace = subprocess.Popen(["strace", "-f", "-qq", "-o", trace] + arguments, stderr=subprocess.DEVNULL)
        if not wait_until(lambda: is_attached(self.strace, pids)):
            sys.exit("strace does not attach")

    def count(self, work):
        begin = os.path.getsize(trace)
        work()
        calls = collections.Counter()
        with open(trace, errors="replace") as file:
            file.seek(begin)
            for line in file:
                match = re.match(r"(\d+) +(\w+)\(", line)
                if match and match[2] not in WAITS:
                    calls[self.who.get(int(match[1]), "worker")] += 1
        return calls

    def close(self):
        self.strace.send_signal(signal.SIGINT)
        self.strace.wait()


def run_all(codes):
    for code in codes:
        if client.run(code)["outcome"] != "ok":
            sys.exit("a program failed")
        wait_until(settled)


def counted(codes):
    """The costs of each of these programs, which run one after the other."""
    wait_until(settled)
    tracer = Tracer()
    run_all(codes[:2])
    looks = tracer.count(lambda: [ready() for _ in range(50)])["daemon"] / 50
    before = client.msgid
    calls = tracer.count(lambda: run_all(codes[2:]))
    calls["daemon"] -= looks * (client.msgid - before - RUNS)  # what this test asked itself
    tracer.close()
    calls["page faults"] = min(faults_of(codes) for _ in range(3))
    return {name: round(count / RUNS, 1) for name, count in sorted(calls.items())}


def faults_of(codes):
    wait_until(settled)
    before = faults()
    run_all([code + f"# {client.msgid}\n" for code in codes[2:]])
    return faults() - before


def unseen(name, first):
    with open(os.path.join(programs, "python", name + ".py")) as file:
        code = file.read()
    return [re.sub("^NUMBER = 0$", f"NUMBER = {first + number}", code, count=1, flags=re.M) for number in range(RUNS + 2)]


with open(kept_in) as file:
    kept = json.load(file)


def least(codes_of):
    """What a busy machine adds differs from one time to the next; what the code costs does not."""
    times = [counted(codes_of(time * (RUNS + 2))) for time in range(3)]
    return {name: min(time[name] for time in times) for name in times[0]}


found = {"print": least(lambda first: ["print(1)\n"] * (RUNS + 2)),
         "unseen": least(lambda first: unseen("bits", first))}
for program, costs in found.items():
    for name, count in costs.items():
        most = kept.get(program, {}).get(name, 0) * MORE + 1
        ok(count <= most, f"{program}: {name}: {count} a run", f"at most {most:.1f}; 908-costs.json has what it was")
print("# now:", json.dumps(found))
done()
