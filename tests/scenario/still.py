"""Whether the process of a session stands still between its cells, as the host sees it."""

import os
import time

from wire import eq, ok, wait_until


def ticks(pid):
    """Cpu time in clock ticks, of all its threads."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        return sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13]))


def switches(pid):
    """How often its threads were given a processor."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="utf-8") as status:
            total += sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)
    return total


def stands_still(pid, name):
    used, given = ticks(pid), switches(pid)
    time.sleep(1)
    eq(ticks(pid), used, f"between cells {name} uses no cpu time")
    # A signal that comes in may have the kernel look at a frozen task.  A timer of 1 ms would be seen.
    looks = 2 * len(os.listdir(f"/proc/{pid}/task"))
    ok(switches(pid) <= given + looks, f"and {name} gets no processor", (given, switches(pid)))


def leaves_nothing(held, work, few, many, name):
    """Whether `many` times work(count) leave more held(), a tuple of counts, than `few` times did."""
    work(few)
    before, until = held(), time.monotonic() + 3
    while time.monotonic() < until:
        before = tuple(map(max, before, held()))
        time.sleep(0.1)
    work(many)
    after = []

    def is_back():
        after[:] = held()
        return all(now <= then for now, then in zip(after, before))

    ok(wait_until(is_back), name, (before, after))
