"""A search over states of a session: try each move, keep the best, go on from there.

The puzzle: from 1, with "double", "add 3" and "subtract 2", reach 41 exactly. The session holds the number
and a file with the log of the steps. A step to 0 or below ends its own process: ced undoes such a cell.
"""

import ced

GOAL = 41
MOVES = {"double": "n * 2", "add 3": "n + 3", "subtract 2": "n - 2"}
ATTEMPT = """
n = {formula}
if n <= 0:
    os._exit(1)
log.write('{name} -> %d\\n' % n)
log.flush()
print(n)
"""


def step(session, state):
    """Tries every move from a state. Gives (distance, number, move, state) of those that lived."""
    for name, formula in MOVES.items():
        result = session.run(ATTEMPT.format(name=name, formula=formula), from_=state)
        print(f"  {name}: {result.text.strip() if result.ok else result.outcome + ', undone'}")
        if result.ok:
            number = int(result.text)
            yield abs(GOAL - number), number, name, session.state


with ced.Client() as client, client.session(states=len(MOVES) + 2) as session:
    session.run("import os\nn = 1\nlog = open('log.txt', 'w')")
    number, state, steps = 1, session.state, 0
    while number != GOAL:
        steps += 1
        print(f"step {steps}, from {number}")
        _, number, name, state = min(step(session, state))
        session.rollback(state)
        print(f"  best: {name}")
    print(f"reached {GOAL} in {steps} steps; the session's own log:")
    print(session.run("print(open('log.txt').read(), end='')").text, end="")
