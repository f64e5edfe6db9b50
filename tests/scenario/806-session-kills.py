"""Kills ced in each state that a session can be in, under load.

Each answered cell is in the store as it was answered, nothing of a session survives, a later daemon says
that the session has ended, and cells in flight are called lost.
"""

import os
import random
import sys
import time

from kills import PATIENCE, Load, end, kill, seed, start, wait_for_daemon
from toolbox import Toolbox, tool
from wire import Client, done, eq, ok, wait_until

config, kills = sys.argv[1], int(sys.argv[2])
seed()
LIMITS = {"wall_ms": 60000, "cpu_ms": 60000, "calls_ms": 60000, "call_ms": 60000}


class Session:
    """A session with two kept states and three answered cells, on a connection of its own."""

    def __init__(self):
        self.box = Toolbox()
        self.id = self.box.call("session.open", language="python", states=2, limits=LIMITS)["session"]
        for number in range(3):
            self.cell(f"x = {number}; open('f', 'w').write('{number}' * 100); print('cell {number}')")

    def send(self, code, **params):
        return self.box.send("run", language="python", session=self.id, code=code, **params)

    def cell(self, code, **params):
        result = self.box.finish(self.send(code, **params))
        answered.append((result["run_id"], result["outcome"], result["stdout"], result["stdout"][:-1]))
        return result

    def settle(self):
        self.rollback()
        return self.box.call("session.list")["sessions"][0]["kept"]

    def rollback(self):
        state = [row for row in self.box.call("session.list")["sessions"] if row["session"] == self.id][0]["state"]
        self.box.call("session.rollback", session=self.id, state=state)


def at_any_moment(most_ms):
    time.sleep(random.uniform(0, most_ms) / 1000)


def opening(session):
    session.box.send("session.open", language="python", states=2)
    at_any_moment(3)


def beginning(session):
    session.send("x = 9; print(x)")
    at_any_moment(6)


def computing(session):
    session.send("import tools\ntools.wait()\nwhile True: pass", tools=[tool("wait")])
    session.box.reply(session.box.wait_for_call(), result=None)
    at_any_moment(3)


def calling(session):
    session.send("import tools\ntools.wait()", tools=[tool("wait")])
    session.box.wait_for_call()


def keeping(session):
    session.cell("y = bytearray(1 << 20); print('kept next')")
    at_any_moment(4)


def standing(session):
    session.settle()


def going_back(session):
    kept = session.settle()
    session.box.send("session.rollback", session=session.id, state=kept[0])
    at_any_moment(6)


def branching(session):
    kept = session.settle()
    session.send("print(x)", **{"from": kept[0]})
    at_any_moment(8)


def undoing(session):
    session.send("import os; os._exit(1)")
    at_any_moment(8)


def waiting_for_approval(session):
    session.id = session.box.call("session.open", language="python", policy="review", limits=LIMITS)["session"]
    session.send("import ctypes")
    client = Client()
    wait_until(lambda: client.call("approvals.list")["waiting"], PATIENCE)
    client.close()


def closing(session):
    session.box.send("session.close", session=session.id)
    at_any_moment(3)


MOMENTS = (opening, beginning, computing, calling, keeping, standing, going_back, branching, undoing,
           waiting_for_approval, closing)


def survivor_is_refused(client, session):
    error, _ = client.receive(client.send("run", language="python", session=session, code="1"))
    return bool(error) and (error["code"], error["data"]["reason"]) == ("not_found", "ended")


answered = []
spawner = start(config)
wait_for_daemon(spawner)
load = Load(clients=3, pause=0.05)
survivors, not_told, running = [], [], []
count = dict.fromkeys((moment.__name__ for moment in MOMENTS), 0)
loaded = []


def one_kill(number):
    """Kills ced at one of the moments, starts it again, and looks what it says of the session."""
    global spawner
    moment = MOMENTS[number % len(MOMENTS)]
    session = Session()
    moment(session)
    survivors.extend((moment.__name__, pid) for pid in kill(spawner, wait_for_daemon(spawner)))
    count[moment.__name__] += 1
    before = len(load.answered)
    spawner = start(config)
    loaded.append(wait_until(lambda: len(load.answered) > before + 3, PATIENCE))
    client = Client(timeout=60)
    if client.call("session.list")["sessions"] or not survivor_is_refused(client, session.id):
        not_told.append((moment.__name__, session.id))
    rows = client.call("runs.list", session=session.id, limit=100)["runs"]
    running.extend((moment.__name__, row) for row in rows if row.get("state") == "running")
    client.close()


ok(wait_until(lambda: len(load.answered) > 3, PATIENCE), "there is load")
try:
    for number in range(kills):
        one_kill(number)
finally:
    load.end()
print("# killed", ", ".join(f"{name} {times}" for name, times in count.items()))
ok(all(loaded), "between any two kills runs were answered")
eq(survivors, [], "nothing of a killed daemon survives")
eq(not_told, [], "the next daemon has no session, and says of each that it has ended")
eq(running, [], "no cell is called running")
load.answered += answered
client = Client(timeout=60)
load.check_records(
    client, lambda record, outcome, stdout: record["outcome"] == outcome and record["stdout"] == stdout)
load.check_answers()
ok(client.call("audit.verify")["found"] == 0, "the chain over all of it verifies")
client.close()
below = spawner.pid
ok(end(spawner) == 0, "it ends when told to")
leaves = [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if os.path.basename(folder) == f"ced-{below}"]
eq(leaves, [], "and leaves no cgroup")
done()
