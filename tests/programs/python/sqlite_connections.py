import fcntl
import os
import sqlite3
import threading

# Two connections: one reads while the other one has read, and has written.
first = sqlite3.connect("shared.db", timeout=1)
second = sqlite3.connect("shared.db", timeout=1)
first.execute("create table t (x)")
first.executemany("insert into t values (?)", ((n,) for n in range(100)))
first.commit()
reading = first.execute("select x from t")
print(next(reading), second.execute("select count(*) from t").fetchone())
reading.close()
first.execute("insert into t values (100)")
print(second.execute("select count(*) from t").fetchone())
try:
    sqlite3.connect("shared.db", timeout=0).execute("insert into t values (101)")
except sqlite3.OperationalError as error:
    print(error)
first.commit()
print(second.execute("select count(*) from t").fetchone())

# A log that is written ahead, read by a thread while another one writes.
print(first.execute("pragma journal_mode = wal").fetchone())
first.execute("begin immediate")
first.execute("insert into t values (102)")
counts = []


def read():
    with sqlite3.connect("shared.db") as own:
        counts.append(own.execute("select count(*) from t").fetchone())
    own.close()


thread = threading.Thread(target=read)
thread.start()
thread.join()
first.commit()
print(counts, second.execute("select count(*) from t").fetchone())
with open("shared.db", "rb") as database, open("shared.db-wal", "rb") as log:
    copies = database.read(), log.read()
for name, copy in zip(("copy.db", "copy.db-wal"), copies):
    with open(name, "wb") as file:
        file.write(copy)
print(sqlite3.connect("file:copy.db?mode=ro", uri=True).execute("select count(*) from t").fetchone())
second.close()
first.close()
print(sorted(name for name in os.listdir() if name.startswith("shared")))

# Locks of one process never stand in its own way.
with open("lock", "w") as one, open("lock") as other:
    fcntl.lockf(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.lockf(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
    try:
        fcntl.lockf(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        print(error)
    os.lockf(one.fileno(), os.F_LOCK, 10)
    fcntl.lockf(one, fcntl.LOCK_UN)
