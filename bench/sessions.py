#!/usr/bin/python3
"""
What sessions cost, beside one `hello` and one `print(1)` as a run of its own.

    sessions.py [--rounds N] [--pause MS] [--pandas] [SOCKET]

One client asks a daemon that runs already, one thing after the other, and each round asks for each
of them once.  So whatever else the machine does hits all of them alike.  With a pause before each,
the kernel has had a quiet while, as between the steps of an agent.  SOCKET, or else CED_SOCKET, says
where the daemon listens; its settings must allow seven sessions of one user.
"""

import argparse
import os
import statistics
import sys
import time

BIG_BYTES = 100 << 20
# What numpy does for a large array: private memory of its own, in huge pages where there are some.
BIG = f"""
try:
    import numpy
    big = numpy.ones({BIG_BYTES} // 8)
except ImportError:
    import mmap
    big = mmap.mmap(-1, {BIG_BYTES}, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    big.madvise(mmap.MADV_HUGEPAGE)
    for start in range(0, {BIG_BYTES}, 1 << 20):
        big[start:start + (1 << 20)] = b'1' * (1 << 20)
print("numpy" if "numpy" in globals() else "mmap")
"""


def read_words():
    words = argparse.ArgumentParser(description=__doc__.split("\n\n")[0].strip())
    words.add_argument("socket", nargs="?", help="where the daemon listens")
    words.add_argument("--rounds", type=int, default=200)
    words.add_argument("--pause", type=float, default=0, help="ms before each request")
    words.add_argument("--pandas", action="store_true", help="memory of its kept states, too")
    return words.parse_args()


class Asker:
    """Sends requests, and keeps how long each took."""

    def __init__(self, client, pause_s):
        self.client = client
        self.pause_s = pause_s
        self.took_ms = {}
        self.sum = 0
        self.sessions = []
        self.stands = {}  # session: state

    def close(self):
        for session in self.sessions:
            self.client.call("session.close", session=session)

    def timed(self, name, ask):
        time.sleep(self.pause_s)
        began = time.perf_counter()
        ask()
        self.took_ms.setdefault(name, []).append((time.perf_counter() - began) * 1e3)

    def open(self, states, code="x = 1"):
        """A session that has run two cells, and stands in state 2."""
        session = self.client.call("session.open", language="python", states=states)["session"]
        self.sessions.append(session)
        said = self.cell(session, code, limits={"wall_ms": 60000})
        self.cell(session)
        return session, said

    def cell(self, session, code="pass", **params):
        result = self.client.call("run", session=session, code=code, **params)
        if result["outcome"] != "ok":
            sys.exit(f"sessions.py: a cell ended as {result['outcome']}: {result}")
        return result["stdout"]

    def print_one(self):
        """Each is a program of its own, so that nothing is known of it."""
        self.sum += 1
        self.client.run(f"print({self.sum})")

    def back(self, session):
        """To the other of two states: where the session stands already, there is nothing to do."""
        at = self.stands.get(session, 2)
        self.stands[session] = 3 - at
        self.client.call("session.rollback", session=session, state=3 - at)

    def back_and_cell(self, session):
        """Each cell makes a new state, of which the session keeps two: the first is pinned."""
        self.client.call("session.rollback", session=session, state=1)
        self.cell(session)


def measure(asker, rounds):
    plain, _ = asker.open(0)
    keeping, _ = asker.open(2)
    empty, _ = asker.open(2)
    big, made_by = asker.open(2, BIG)
    empty_on, _ = asker.open(2)
    big_on, _ = asker.open(2, BIG)
    ways = {
        "hello": lambda: asker.client.call("hello"),
        "print(N)": asker.print_one,
        "cell": lambda: asker.cell(plain),
        "cell, 2 states kept": lambda: asker.cell(keeping),
        "rollback, empty": lambda: asker.back(empty),
        "rollback, 100 MB": lambda: asker.back(big),
        "rollback and cell, empty": lambda: asker.back_and_cell(empty_on),
        "rollback and cell, 100 MB": lambda: asker.back_and_cell(big_on),
    }
    for session in (empty_on, big_on):
        asker.back(session)
        asker.client.call("session.keep", session=session)
    for number in range(rounds + 1):
        if number == 1:
            asker.took_ms.clear()  # the first of each finds nothing open
        for name, ask in ways.items():
            asker.timed(name, ask)
    print(f"100 MB by {made_by.strip()}; medians of {rounds}, {asker.pause_s * 1e3:g} ms between")


def tell(took_ms):
    hello = statistics.median(took_ms["hello"])
    run = statistics.median(took_ms["print(N)"])
    print(f"{'':26} {'p10 ms':>8} {'p50 ms':>8} {'p90 ms':>8} {'hellos':>8} {'print(N)s':>10}")
    for name, took in took_ms.items():
        p50 = statistics.median(took)
        p10, p90 = (sorted(took)[len(took) * part // 10] for part in (1, 9))
        print(f"{name:26} {p10:8.2f} {p50:8.2f} {p90:8.2f} {p50 / hello:8.1f} {p50 / run:10.2f}")


def memory_of_a_state(asker):
    """The session's memory with one more kept state, and without it again."""
    session, _ = asker.open(4, "import pandas")
    asker.cell(session, "frame = pandas.DataFrame({'a': range(1000)})")
    asker.cell(session)

    def held():
        time.sleep(0.2)  # the state is kept after the answer
        for row in asker.client.call("session.list")["sessions"]:
            if row["session"] == session:
                return row["memory_bytes"]
        return sys.exit("sessions.py: the session has ended")

    before = held()
    asker.client.call("session.drop", session=session, state=2)
    print(f"a kept state of an idle pandas session: {(before - held()) / (1 << 20):.1f} MB")


def main():
    words = read_words()
    if words.socket:
        os.environ["CED_SOCKET"] = words.socket
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests", "scenario"))
    from wire import Client  # which reads CED_SOCKET

    asker = Asker(Client(), words.pause / 1e3)
    try:
        measure(asker, words.rounds)
        tell(asker.took_ms)
        if words.pandas:
            memory_of_a_state(asker)
    finally:
        asker.close()


if __name__ == "__main__":
    main()
