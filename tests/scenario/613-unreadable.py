"""Damages the program of an unsettled run, runs many programs after it, and checks which runs are affected.

    613-unreadable.py STATE LOG
"""

import os
import sqlite3
import sys

from wire import Client, done, eq, ok, wait_until

RUNS = 300  # more than the number of unsettled runs that is allowed
state, log = sys.argv[1:3]
client = Client()


def program(word):
    return f"# {word} " + "#" * 600 + f"\nprint({word!r})"


def found(word):
    return len(client.call("runs.list", text=word)["runs"])


client.run(program("earlier"))
spoilt = client.run(program("spoilt"))["run_id"]
store = sqlite3.connect(os.path.join(state, "ced.db"), timeout=20)
with store:
    changed = store.execute("UPDATE blob_data SET codec = 1, data = x'00' WHERE blob = (SELECT code FROM records "
                            "JOIN runs USING (key) WHERE run_id = ?)", (spoilt,)).rowcount
store.close()
eq(changed, 1, "its bytes are others")
eq(found("earlier"), 1, "what waits with it is found by its words")
results = [client.run("1")["outcome"] for _ in range(RUNS)]
eq(results.count("ok"), RUNS, "everybody is recorded")


def told():
    with open(log, encoding="utf-8") as file:
        return [line for line in file if "store.unreadable" in line]


ok(wait_until(lambda: client.call("admin.status")["store"]["unsettled"] < RUNS), "and settled")
ok(wait_until(told), "the log tells of it")
ok("damaged" in told()[0], "and why", told()[0])
eq(found("earlier"), 1, "others are still found")
error, _ = client.receive(client.send("runs.get", run_id=spoilt))
eq(error and error["code"], "internal", "the one itself cannot be told")
done()
