"""Runs whose records are next to each other; a page with some of them becomes unreadable.

    614-left-behind.py fill
    614-left-behind.py spoil STATE
"""

import os
import sqlite3
import sys
import time

PAGE = 4096
RUNS = 60
MARK = b"# the spoilt one"


def fill():
    from wire import Client

    client = Client()
    for i in range(RUNS):
        word = MARK.decode() if i == RUNS // 2 else "# one of many"
        print(client.run(f"{word} {i} " + "#" * 120 + f"\nprint({i})")["run_id"])


def spoil(state):
    path = os.path.join(state, "ced.db")
    store = sqlite3.connect(path, timeout=20)
    while store.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        time.sleep(0.05)  # the daemon is reading or writing
    with open(path, "r+b") as file:
        at = file.read().index(MARK)
        file.seek(at // PAGE * PAGE)
        file.write(b"Z" * PAGE)
    # A change by another process makes every connection reread its cached pages.
    version = store.execute("PRAGMA user_version").fetchone()[0]
    with store:
        store.execute(f"PRAGMA user_version = {version}")
    store.close()


if sys.argv[1] == "fill":
    fill()
else:
    spoil(sys.argv[2])
