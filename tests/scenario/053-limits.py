"""Programs that run into each limit, all in one jail, one after the other."""

import glob
import json
import os
import sys

from wire import Client, done, eq, ok

spawner = int(sys.argv[1])
client = Client()
KIB, MIB = 1 << 10, 1 << 20


def run(code, **params):
    return client.run(code, policy="observe", **params)


def cpu_us(result):
    return result["metrics"]["cpu_user_us"] + result["metrics"]["cpu_sys_us"]


plain = run("pass")
held = plain["limits"]["enforced_by"]
CGROUP = {name: by in ("cgroup1", "cgroup2") for name, by in held.items()}


def knob(controller, name):
    """What a file of the worker's leaf says, where root may look; None: no such thing here."""
    with open(f"/proc/{spawner}/cgroup") as table:
        rows = [line.rstrip("\n").split(":", 2) for line in table]
    for _, controllers, path in rows:
        if controller not in controllers.split(",") and controllers:
            continue
        for top in (f"/sys/fs/cgroup/{controllers}", "/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
            for found in glob.glob(f"{top}{path.removesuffix('/main')}/**/ced-{spawner}/*-s*/{name}", recursive=True):
                with open(found) as file:
                    return file.read().strip()
            for found in glob.glob(f"{top}{path.removesuffix('/main')}/*-s*/{name}"):
                with open(found) as file:
                    return file.read().strip()
    return None


# ---- processors at a time ----------------------------------------------------------------------

BUSY = """
import hashlib, threading, time
block = bytes(1 << 18)
def burn(until=time.monotonic() + 1.5):
    while time.monotonic() < until: hashlib.sha256(block).digest()
threads = [threading.Thread(target=burn) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def share(percent):
    result = run(BUSY, limits={"cpu_percent": percent, "cpu_ms": 20000})
    eq(result["outcome"], "ok", f"four busy threads at {percent} % end well")
    eq(result["limits"]["cpu_percent"], percent, "and the result says what they had")
    return 100 * cpu_us(result) / result["metrics"]["exec_us"]


if CGROUP["cpu_percent"]:
    for percent in 20, 100:
        used = share(percent)
        ok(used < 1.15 * percent + 5, f"four busy threads get {percent} % of a processor and no more", f"{used:.0f} %")
    quota = knob("cpu", "cpu.cfs_quota_us") or (knob("cpu", "cpu.max") or "").split(" ")[0]
    eq(quota, "100000", "and the kernel was told so")
    run("pass", limits={"cpu_percent": 150})
    run("pass")
    quota = knob("cpu", "cpu.cfs_quota_us") or (knob("cpu", "cpu.max") or "").split(" ")[0]
    eq(quota, "100000", "one that had more leaves nothing of it to the next")
else:
    eq(held["cpu_percent"], "none", "where nobody holds the share of processors the result says so")

done()
