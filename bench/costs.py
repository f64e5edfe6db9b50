"""
What a daemon's processes have used so far: cpu, page faults and context switches, by kind.

A process that has ended is counted where its parent's children are: workers end below slots, so
what the children of slots have used is the workers'.  The kernel keeps no context switches of
ended processes, so those of workers cannot be read.
"""

import os

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
KINDS = {
    "spawner": "spawner",
    "loop": "ced, the loop",
    "threads": "ced, recorder and other threads",
    "inspectors": "inspectors",
    "slots": "zygotes and slots",
    "workers": "workers",
}


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class Used:
    def __init__(self, cpu_s=0.0, faults=0, switches=0):
        self.cpu_s = cpu_s
        self.faults = faults
        self.switches = switches

    def add(self, other):
        self.cpu_s += other.cpu_s
        self.faults += other.faults
        self.switches += other.switches

    def since(self, before, runs):
        """Not below 0: what a process has used loses up to a tick when it ends."""
        return {
            "cpu_ms": max(self.cpu_s - before.cpu_s, 0) * 1e3 / runs,
            "faults": max(self.faults - before.faults, 0) / runs,
            "switches": max(self.switches - before.switches, 0) / runs,
        }


def fields_of(path):
    """From the state on, which is field 3 of proc(5): fields_of(...)[n - 3] is field n."""
    return read(path).rpartition(")")[2].split()


def task_used(folder):
    """A living thread.  schedstat counts nanoseconds where the kernel has it."""
    fields = fields_of(f"{folder}/stat")
    try:
        cpu_s = int(read(f"{folder}/schedstat").split()[0]) / 1e9
    except OSError:
        cpu_s = (int(fields[11]) + int(fields[12])) / TICKS_PER_S
    switches = sum(
        int(line.split()[1])
        for line in read(f"{folder}/status").splitlines()
        if line.startswith(("voluntary_ctxt", "nonvoluntary_ctxt"))
    )
    return Used(cpu_s, int(fields[7]) + int(fields[9]), switches)


def reaped_used(pid):
    fields = fields_of(f"/proc/{pid}/stat")
    cpu_s = (int(fields[13]) + int(fields[14])) / TICKS_PER_S
    return Used(cpu_s, int(fields[8]) + int(fields[10]))


def children_of_all():
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                parent = int(fields_of(f"/proc/{name}/stat")[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(name))
    return children


def kinds_below(spawner):
    """Each process of a daemon with its kind."""
    children = children_of_all()
    yield spawner, "spawner"
    for child in children.get(spawner, []):
        name = read(f"/proc/{child}/comm").strip()
        if name in ("ced", "ced-inspector"):
            yield child, "loop" if name == "ced" else "inspectors"
            continue
        yield child, "slots"
        for slot in children.get(child, []):
            yield slot, "slots"
            below = list(children.get(slot, []))
            while below:
                worker = below.pop()
                below += children.get(worker, [])
                yield worker, "workers"


def used(spawner):
    """{kind: Used} since the processes began, those included that have ended."""
    found = {kind: Used() for kind in KINDS}
    for pid, kind in kinds_below(spawner):
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                other_thread = kind == "loop" and int(task) != pid
                found["threads" if other_thread else kind].add(
                    task_used(f"/proc/{pid}/task/{task}")
                )
            found["workers" if kind == "slots" else kind].add(reaped_used(pid))
        except OSError:
            continue  # it has just ended, and its parent counts it
    return found


def per_run(before, after, runs):
    costs = {kind: after[kind].since(before[kind], runs) for kind in KINDS}
    costs["workers"]["switches"] = None
    return costs
