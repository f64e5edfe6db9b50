#!/usr/bin/python3
"""A search over states of a session: try, look, go back, try something else.

    examples/tree_search.py

An agent that repairs or plans something makes attempts that build on one another.  With kept states
it needs not repeat what led to a state: each attempt is a cell that begins in a kept state (`from`),
with the variables and files of that state, and the session goes on from the attempt that was best.

The puzzle: from 1, with "double", "add 3" and "subtract 2", reach 41 exactly.  The session holds the
number and a file with the log of the steps; this process only chooses the best state of each step.
A step to 0 or below kills its own process: ced undoes such a cell, and the session goes on.
"""

from client import Client

GOAL = 41
MOVES = {"double": "n * 2", "add 3": "n + 3", "subtract 2": "n - 2"}
STATES = 8  # how many the session keeps: those of one step, and the one they began in

BEGIN = "import os\nn = 1\nlog = open('log.txt', 'w')\nprint(n)"
ATTEMPT = """
n = {formula}
if n <= 0:
    os._exit(1)
log.write('{name} -> %d\\n' % n)
log.flush()
print(n)
"""


class Session:
    def __init__(self, client):
        self.client = client
        self.id = client.call("session.open", language="python", states=STATES)["session"]

    def cell(self, code, **params):
        return self.client.call("run", session=self.id, code=code, **params)

    def go_back(self, state):
        self.client.call("session.rollback", session=self.id, state=state)

    def close(self):
        self.client.call("session.close", session=self.id)


def step(session, state):
    """Tries every move from a state.  Returns (distance, number, move, state) of those that lived."""
    found = []
    for name, formula in MOVES.items():
        result = session.cell(ATTEMPT.format(name=name, formula=formula), **{"from": state})
        if result["outcome"] != "ok":
            print(f"  {name}: {result['outcome']}, undone")
            continue
        number = int(result["stdout"])
        print(f"  {name}: {number}")
        found.append((abs(GOAL - number), number, name, result["session"]["state"]))
    return found


def main():
    with Client() as client:
        session = Session(client)
        state = session.cell(BEGIN)["session"]["state"]
        number, steps = 1, 0
        while number != GOAL:
            steps += 1
            print(f"step {steps}, from {number}")
            _, number, name, state = min(step(session, state))
            session.go_back(state)
            print(f"  best: {name}")
        print(f"reached {GOAL} in {steps} steps; the session's own log:")
        print(session.cell("print(open('log.txt').read(), end='')")["stdout"], end="")
        session.close()


if __name__ == "__main__":
    main()
