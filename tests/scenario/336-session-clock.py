"""Idle and age limits of sessions, and the time to approve a call, while the wall clock jumps by hours."""

import os
import struct
import sys
import time

from toolbox import Toolbox, tool
from wire import Client, done, eq, ok, wait_until

clock = sys.argv[1]
HOUR_MS = 3600 * 1000
DAY_US = 24 * 3600 * 1_000_000


def set_clock(ahead_ms):
    with open(clock, "r+b") as file:
        file.write(struct.pack("=q", ahead_ms))


def connect(uid, kind=Client):
    os.seteuid(uid)
    client = kind()
    os.seteuid(0)
    return client


box, approver = connect(4001, Toolbox), connect(4002)
approver.call("events.subscribe", kinds=["asked"])


def opened(**params):
    return box.call("session.open", language="python", limits={"wall_ms": 60000}, **params)["session"]


def rows():
    return {row["session"]: row for row in box.call("session.list")["sessions"]}


def cell(session, code):
    return box.call("run", session=session, code=code)


# ---- jumps end no session ------------------------------------------------------------------------

began = time.monotonic()
session = opened(idle_ms=600_000)
cell(session, "x = 1")
for ahead in (24 * HOUR_MS, -24 * HOUR_MS, 365 * 24 * HOUR_MS, 0, -2 * HOUR_MS):
    set_clock(ahead)
    listed = rows().get(session)
    if time.monotonic() - began > 19:
        break  # a slow machine: it may end for its age
    ok(listed, f"a session lives when the clock is {ahead // HOUR_MS:+d} h off")
    ok(listed and abs(listed["expires_us"] - time.time() * 1e6 - ahead * 1000) < DAY_US / 24, "and tells the time of its end by the clock as it is now", listed)
    result = cell(session, "x += 1; print(x)")
    ok(result["outcome"] == "ok" and result["session"]["state"], "its cells run", result)

# ---- nor do they keep one ------------------------------------------------------------------------

set_clock(-24 * HOUR_MS)
ok(wait_until(lambda: session not in rows()), "a clock that was set back does not prolong the age of a session")
ok(time.monotonic() - began >= 19, "which ends when it is up, and not before", time.monotonic() - began)
set_clock(0)
began = time.monotonic()
idle = opened(idle_ms=10_000)
set_clock(-48 * HOUR_MS)
ok(wait_until(lambda: idle not in rows()), "nor its idle time")
ok(time.monotonic() - began >= 9.9, "which is as long as it was", time.monotonic() - began)

# ---- approvals -----------------------------------------------------------------------------------

set_clock(0)
CODE = "try: print(tools.note())\nexcept tools.ToolError as error: print(error.code)"
began = time.monotonic()
msgid = box.start(CODE, [tool("note")], policy="asks", limits={"wall_ms": 30000, "calls_ms": 8000, "call_ms": 1000})
ok(wait_until(lambda: approver.call("approvals.list")["calls"]), "a call waits for an approver")
for ahead in (24 * HOUR_MS, -24 * HOUR_MS):
    set_clock(ahead)
    time.sleep(0.2)
    if time.monotonic() - began < 6:
        ok(approver.call("approvals.list")["calls"], f"and still when the clock is {ahead // HOUR_MS:+d} h off")
result = box.finish(msgid, {"note": lambda: "noted"})
ok(result["stdout"] == "timeout\n" and time.monotonic() - began >= 6.5, "its time ends by the other clock", (result["stdout"], time.monotonic() - began))
set_clock(0)
done()
