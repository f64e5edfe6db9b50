"""Calls every method as a caller with one role, for each role, and as a caller without any.

The expected results are in docs/PROTOCOL.md, in its matrix of methods and roles.  lint.documented compares
that matrix with proto/method/method_table.h.
"""

import json
import pathlib
import re
import sys

from wire import Client, done, eq, ok

page, roles, role, stranger = sys.argv[1:]
COLUMN = {"none": None, "user": 1, "approver": 2, "admin": 3}[role]
client = Client()


def matrix():
    """{method: cell} of this role."""
    told = {}
    for line in pathlib.Path(page).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[1] in ("–", "own", "yes"):
            for name in re.findall(r"`([\w.]+)`", cells[0]):
                told[name] = cells[COLUMN] if COLUMN else "–"
    return told


def answer(method, **params):
    error, result = client.receive(client.send(method, **params))
    return (error["code"] if error else "answered"), result


# A key that no method knows: the daemon checks rights before params, so no call has an effect.
cells = matrix()
ok(len(cells) >= 17, f"{len(cells)} methods")
for method, cell in cells.items():
    code, _ = answer(method, **{"no such key": 1})
    eq(code == "forbidden", cell == "–", f"{role}: {method}: {cell}")

# Methods about runs show the caller's own runs, or those of all users.
for method in "runs.get", "runs.output", "wait", "cancel":
    code, _ = answer(method, run_id=stranger, **({"stream": "stdout"} if method == "runs.output" else {}))
    seen = {"–": "forbidden", "own": "not_found"}.get(cells[method])
    ok(code == seen if seen else code != "forbidden", f"{role}: {method} of somebody else's run: {code}")
for method, count in ("runs.list", lambda it: len(it["runs"])), ("stats", lambda it: it["runs"]):
    code, result = answer(method, uid=4007)
    if cells[method] == "–":
        eq(code, "forbidden", f"{role}: {method}")
    else:
        others = count(result) > 0
        eq(others, cells[method] == "yes", f"{role}: {method} shows others' runs: {others}")

if role != "none":
    code, result = answer("hello")
    eq((result["you"]["role"], result["you"]["roles"]), (role, json.loads(roles)), f"{role} is told so")
done()
