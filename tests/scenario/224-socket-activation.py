"""A daemon that is restarted while clients connect: 224-socket-activation.py RESTARTS COMMAND...

The service manager keeps the socket, so no connect() may fail.  A client whose connection ends before
its answer asks again with the same id, and must get the one result of that id.
"""

import os
import sys
import threading
import time

import wire
from manager import Manager

RESTARTS = int(sys.argv[1])
CLIENTS = 3

manager = Manager(sys.argv[2:], path=wire.PATH, log=os.environ["CED_LOG"])
over = threading.Event()
answered = {}
refused, draining, reconnected = [], [0], [0]


def ask(name):
    """The result of the run with this id, by as many connections as that takes."""
    while True:
        try:
            client = wire.Client()
        except OSError as error:
            refused.append(str(error))
            return None
        try:
            return client.run(f"print({name!r})", id=name)
        except RuntimeError as error:
            draining[0] += 1
            if "draining" not in str(error):
                refused.append(str(error))
                return None
        except OSError:
            reconnected[0] += 1
        except EOFError:
            reconnected[0] += 1
        finally:
            client.close()


def work(number):
    turn = 0
    while not over.is_set():
        turn += 1
        result = ask(f"{number}-{turn}")
        if result:
            answered[f"{number}-{turn}"] = result


# Before any daemon runs, a client waits in the socket's queue.
first = []
waiting = threading.Thread(target=lambda: first.append(ask("first")))
waiting.start()
wire.ok(manager.start(), "the daemon takes the socket that was made for it")
waiting.join()
wire.eq(first[0] and first[0]["stdout"], "first\n", "a client that connected before its start is answered")

threads = [threading.Thread(target=work, args=(number,)) for number in range(CLIENTS)]
for thread in threads:
    thread.start()
statuses, starts = [], []
for _ in range(RESTARTS):
    seen = len(answered)
    while len(answered) < seen + CLIENTS and not refused:
        time.sleep(0.01)  # some are answered between two restarts
    statuses.append(manager.stop())
    starts.append(manager.start())
seen = len(answered)
while len(answered) < seen + CLIENTS and not refused:
    time.sleep(0.01)
over.set()
for thread in threads:
    thread.join()
wire.eq((set(statuses), all(starts)), ({0}, True), f"{RESTARTS} restarts")
wire.eq(refused[:3], [], "no client was refused")
wire.eq([name for name, result in answered.items() if result["stdout"] != name + "\n"], [],
        f"{len(answered)} runs were answered, each with its own output")
client = wire.Client()
lost = [name for name, result in answered.items()
        if client.call("runs.get", run_id=result["run_id"])["outcome"] != result["outcome"]]
wire.eq(lost, [], "each of them is in the record")
print(f"# {draining[0]} were told that the daemon ends, {reconnected[0]} connections ended before the answer")
client.close()
wire.ok(os.path.exists(wire.PATH), "the socket is there")
wire.eq(manager.stop(), 0, "the daemon stops")
wire.ok(os.path.exists(wire.PATH), "and leaves the socket to the service manager")
wire.done()
