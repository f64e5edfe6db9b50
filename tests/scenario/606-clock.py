"""The wall clock jumps while programs run, by as much as a clock that was never set."""

import struct
import sys
import time

from load import Load
from wire import Client, done, eq, ok, wait_until

clock, log = sys.argv[1:3]
client = Client()
HOUR_MS = 3600 * 1000


def set_clock(ahead_ms):
    with open(clock, "r+b") as file:
        file.write(struct.pack("=q", ahead_ms))


load = Load(clients=4)
ok(load.more(50), "programs run")
# The jumps do not change the time limit of a program in progress.
slow = client.send("run", language="python", code="import time; time.sleep(3); print('slept')",
                   limits={"wall_ms": 6000})
jumps = [365 * 24 * HOUR_MS, 0, -HOUR_MS, 24 * HOUR_MS, -730 * 24 * HOUR_MS, 0]
for ahead_ms in jumps:
    set_clock(ahead_ms)
    ok(load.more(50), f"programs run {ahead_ms / HOUR_MS:+.0f} h off")
    time.sleep(1.2)
error, result = client.receive(slow)
ok(not error and result["stdout"] == "slept\n", "a limit is no business of the wall clock", result or error)
ok(2_900_000 < result["metrics"]["exec_us"] < 60_000_000, "nor is how long something took", result["metrics"])
error, waited = client.receive(client.send("run", language="python", code="while True: pass",
                                           limits={"wall_ms": 500}))
eq(waited["outcome"], "wall_limit", "and a limit that is reached ends a run")
load.finish()
eq(load.unordered, 0, "ids rise in the order of the answers to each client")
eq(len({run_id for run_id, _ in load.answered}), len(load.answered), "no id comes twice")
lost = load.missing(client)
ok(not lost, "every answered run is in the store, as it was answered", lost[:3])
ok(not load.odd and not load.refused, "no run was refused for it", (load.odd[:1], load.refused))
told = client.call("admin.status")["clock"]
eq(told["jumps"], len(jumps), "each jump is counted")
ok(wait_until(lambda: open(log, encoding="utf-8").read().count("clock.jumped") >= len(jumps)),
   "and in the log")
newest = client.call("runs.list", limit=1)["runs"][0]["run_id"]
ok(newest >= max(run_id for run_id, _ in load.answered), "the newest run is the last one", newest)
print(f"# {len(load.answered)} answered over {len(jumps)} jumps, 0 of them lost")
done()
