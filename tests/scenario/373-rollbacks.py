"""Thousands of rollbacks leave nothing behind."""

import glob
import os
import sys

from wire import Client, children, daemon_pid, done, eq, ok, rss_kib, wait_until

SPAWNER, ROLLBACKS, STATE = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
SETTLED = 500  # rollbacks, after which pools and caches have what they need
HIERARCHIES = len(glob.glob(f"/sys/fs/cgroup/**/ced-{SPAWNER}/", recursive=True))
LEAF_FDS = 24  # files of a leaf that the daemon may hold: PRIV_FDS_MAX
daemon = daemon_pid(SPAWNER)
client = Client()
session = client.call("session.open", language="python", states=4)["session"]


def cell(code):
    result = client.call("run", session=session, code=code)
    return result["outcome"], result["stdout"]


def back_and_forth(times):
    for number in range(times):
        client.call("session.rollback", session=session, state=1 + number % 2)


def held():
    """What the service holds on this host."""
    client.call("session.rollback", session=session, state=2)
    return {
        "processes": len(children(SPAWNER)),
        "cgroups": len(glob.glob(f"/sys/fs/cgroup/**/ced-{SPAWNER}/**/", recursive=True)),
        "descriptors": sum(map(descriptors_but_the_stores, [daemon, SPAWNER])),
        "mounts": sum(mounts_of(pid) for pid in children(SPAWNER)),
    }


def descriptors_but_the_stores(pid):
    """The store opens another connection for a reader when two read at once, and keeps it."""
    count = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            count += not os.readlink(f"/proc/{pid}/fd/{fd}").startswith(STATE)
        except OSError:
            pass
    return count


def mounts_of(pid):
    try:
        with open(f"/proc/{pid}/mountinfo", encoding="utf-8") as file:
            return sum(1 for _ in file)
    except OSError:
        return 0


cell("x = 1; log = []; open('f', 'w').write('1' * 5000)")
cell("x = 2; open('f', 'w').write('2' * 9000); open('g', 'w').close()")
back_and_forth(SETTLED)
before, memory = held(), rss_kib(daemon)
back_and_forth(ROLLBACKS - SETTLED)


def holds_no_more():
    """Beside what it held, there may be one more leaf: in which the worker before has not died yet."""
    after = held()
    leaf = (after["cgroups"] - before["cgroups"]) / HIERARCHIES
    return (leaf <= 1 and after["processes"] <= before["processes"] and after["mounts"] <= before["mounts"]
            and after["descriptors"] <= before["descriptors"] + leaf * LEAF_FDS)


ok(wait_until(holds_no_more), f"after {ROLLBACKS} rollbacks the service holds what it held after {SETTLED}",
   (before, held()))
grown = rss_kib(daemon) - memory
ok(grown < 8192, "its memory has not grown by more than 8 MiB", grown)
eq(cell("import os; print(x, len(open('f').read()), sorted(os.listdir('.')), log)"), ("ok", "2 9000 ['f', 'g'] []\n"),
   "and the state is what it was")
client.call("session.rollback", session=session, state=1)
eq(cell("import os; print(x, len(open('f').read()), sorted(os.listdir('.')))"), ("ok", "1 5000 ['f']\n"), "so is the other")
client.call("session.close", session=session)
done()
