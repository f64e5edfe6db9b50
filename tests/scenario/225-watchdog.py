"""A daemon under a watchdog: 225-watchdog.py COMMAND..."""

import os
import signal
import sys
import time

import wire
from manager import Manager

FED = "WATCHDOG=1"
manager = Manager(sys.argv[1:], watchdog_s=4, log=os.environ["CED_LOG"])


def status(client):
    return client.call("admin.status")


def wait_until(true, patience_s=300):
    until = time.monotonic() + patience_s
    while not true() and time.monotonic() < until:
        time.sleep(0.05)
    return true()


def jails():
    """Everything below the spawner, but for the daemon itself and what reads programs."""
    return [pid for pid in wire.children(manager.pid)
            if not wire.command(pid).startswith(("ced --spawner-fd", "ced-inspector", "/proc/self/fd"))
            and "ced-inspector" not in wire.command(pid)]


def signal_all(number):
    for pid in jails():
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


wire.ok(manager.start(), "it starts")
wire.ok(manager.wait(FED, 3), "while jails work, the watchdog is fed")
client = wire.Client()
canary = status(client)["canary"]
wire.ok(canary["ended_well"] >= 3 and not canary["failed"], "each time by an empty program that ended well", canary)
wire.eq(client.call("runs.list")["runs"], [], "which is not in the record")
wire.eq((status(client)["outcomes"], status(client)["in_progress"]), ({}, 0), "nor counted")


def stop_jails():
    """Stops both workers, and the process that makes others; False if a canary came in between."""
    before = status(client)
    signal_all(signal.SIGSTOP)
    after = status(client)
    if (all(runtime["warm"] == 2 for state in (before, after) for runtime in state["runtimes"])
            and before["canary"] == after["canary"]):
        return True
    signal_all(signal.SIGCONT)
    return False


# Jails stop, while the loop goes on.
wire.ok(wait_until(stop_jails), "all jails are stopped")
failed = status(client)["canary"]["failed"]
wire.ok(wait_until(lambda: status(client)["canary"]["failed"] > failed), "an empty program does not end any more")
fed = manager.count(FED)
wire.ok(wait_until(lambda: status(client)["canary"]["failed"] > failed + 1), "the next neither")
wire.eq(manager.count(FED), fed, "the watchdog is not fed, though the daemon answers")
health = client.call("health")
wire.eq([(fault["part"], fault["level"]) for fault in health["faults"] if fault["part"] == "canary"],
        [("canary", "degraded")], "health names it")
wire.ok(wait_until(lambda: (signal_all(signal.SIGCONT), status(client)["canary"]["trouble"] is None)[1]),
        "when jails work again, so does the canary")
wire.ok(manager.wait(FED, fed), "and the watchdog is fed")

# All workers have runs, so none is left for a canary.
slow = [client.send("run", language="python", code="import time; time.sleep(60)", limits={"wall_ms": 60000})
        for _ in range(2)]
wire.ok(wait_until(lambda: all(runtime["warm"] == 0 for runtime in status(client)["runtimes"])),
        "long programs have all workers")
fed, sung = manager.count(FED), status(client)["canary"]["ended_well"]
wire.ok(manager.wait(FED, fed + 2), "the watchdog is fed, since runs end by their limits")
wire.eq(status(client)["canary"]["ended_well"], sung, "without a canary")
client.close()
wire.eq(manager.stop(), 0, "it stops")
wire.done()
