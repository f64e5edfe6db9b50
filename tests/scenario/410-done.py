"""A program forges the harness's last message, DONE: the daemon kills it and logs what it still does."""

import os
import re
import sys
import threading

from wire import Client, done, eq, mark, marked, ok, wait_until

spawner, log = int(sys.argv[1]), sys.argv[2]
client = Client()

DONE = r"""
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
def say_done(code=0): os.write(3, struct.pack("<IIIi", 0x43454401, 6, 0, code))
"""


def run(code, **params):
    return client.run(DONE + code, policy="observe", **params)


def told():
    """The log's lines about calls that were refused after the record was closed."""
    with open(log, encoding="utf-8", errors="replace") as file:
        return re.findall(r'run\.refused_after_done run="?(\w+)"? nr=(\d+) call="?(\w+)', file.read())


# ---- what it is refused then ---------------------------------------------------------------------

ids = set()


def tried_and_told():
    ids.add(run("say_done()\nwhile True: libc.socket(2, 1, 0)")["run_id"])
    return any(run_id in ids and call == "socket" for run_id, _, call in told())


ok(wait_until(tried_and_told), "what a program is refused when it has said that it is done goes to the log", told())
result = run("libc.socket(2, 1, 0); say_done()\nwhile True: pass")
eq((result["outcome"], [call["call"] for call in result["refused_calls"]]), ("ok", ["socket"]), "what it was refused before is in its record")
eq("refused_calls" in run("print(1)"), False, "and an honest run has no such call")

# ---- what it computes then -----------------------------------------------------------------------

# Redacting and storing this output takes a while, during which the program could go on.
BUSY = mark(41) + """
text = (b"api_key=sk-" + b"A1b2C3d4" * 6 + b" password: hunter2hunter2 AKIAIOSFODNN7EXAMPLE ") * 100
left = 15_000_000
while left > 0: left -= os.write(1, text)
say_done()
while True: pass
"""
ticks = os.sysconf("SC_CLK_TCK")
seen = {}
over = threading.Event()


def look():
    """The cpu time of the program, as the host sees it, for as long as it lives."""
    while not over.wait(0.002):
        for pid in marked(spawner, 41):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                    rest = stat.read().rsplit(")", 1)[1]
            except OSError:
                continue
            seen[pid] = sum(map(int, rest.split()[11:13])) * 1000 // ticks


looking = threading.Thread(target=look)
looking.start()
result = run(BUSY, limits={"stdout_bytes": 16 << 20, "wall_ms": 50000, "cpu_ms": 50000})
over.set()
looking.join()
used_ms = (result["metrics"]["cpu_user_us"] + result["metrics"]["cpu_sys_us"]) // 1000
eq(result["outcome"], "ok", "it said that it was done")
if result["limits"]["enforced_by"]["cpu_ms"] != "rlimit":
    ok(max(seen.values(), default=0) <= used_ms + 60, "and computes no more, but for what is counted", (seen, used_ms))

# ---- how it ends then ----------------------------------------------------------------------------

# After a code other than 0 the daemon waits for the program's death and uses the kernel's wait status.
ends = [run("say_done(3); os.kill(os.getpid(), 11)") for _ in range(5)]
eq({(end["outcome"], end.get("exit_code", end.get("signal"))) for end in ends} - {("exit", 3), ("signal", "SIGSEGV"), ("signal", 11)}, set(),
   "a code that it says, or the signal that it died of")
eq(client.run("print('well')")["stdout"], "well\n", "and the next run is as ever")
done()
