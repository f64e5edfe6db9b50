# runtime: python-mp
# inside: (60,)
# inside: (0,) database is locked
# inside: (60,)
# inside: database is locked ['shared.db', 'shared.db.lock']
# inside: (60,)
# inside: ['shared.db']
import multiprocessing as mp
import os
import signal
import sqlite3


def add(times):
    own = sqlite3.connect("shared.db", timeout=60)
    for number in range(times):
        with own:
            own.execute("insert into t values (?)", (number,))
    own.close()


def die_within():
    own = sqlite3.connect("shared.db", isolation_level=None)
    own.execute("begin exclusive")
    os.kill(os.getpid(), signal.SIGKILL)


def count(timeout=0):
    try:
        with sqlite3.connect("shared.db", timeout=timeout) as own:
            return own.execute("select count(*) from t").fetchone()
    except sqlite3.OperationalError as error:
        return error


if __name__ == "__main__":
    first = sqlite3.connect("shared.db")
    first.execute("create table t (x)")
    first.commit()

    # Processes that write wait for each other, and no row is lost.
    adders = [mp.Process(target=add, args=(15,)) for _ in range(4)]
    [adder.start() for adder in adders]
    [adder.join() for adder in adders]
    print(count(60))

    # Inside, a statement that has not ended keeps others from reading.
    reading = first.execute("select x from t")
    print(next(reading), count())
    reading.close()
    print(count())

    # Inside, a process that dies in a transaction leaves its lock behind.
    killed = mp.Process(target=die_within)
    killed.start()
    killed.join()
    print(count(), sorted(name for name in os.listdir() if not name.endswith(("py", "journal"))))
    if os.path.isdir("shared.db.lock"):
        os.rmdir("shared.db.lock")
    print(count())
    first.close()
    print(sorted(name for name in os.listdir() if not name.endswith(("py", "journal"))))
