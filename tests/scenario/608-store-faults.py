"""Makes the store unwritable in several ways while eight clients run programs.

Whatever the cause: every answered run is in the store, every refused one has the reason, status and log report
the trouble, and when the cause is gone everything continues by itself.
"""

import contextlib
import os
import sqlite3
import subprocess
import sys
import time

from load import Load
from wire import Client, done, eq, ok, wait_until

state, log, kind = sys.argv[1:4]
database = os.path.join(state, "ced.db")
client = Client()


def status():
    return client.call("admin.status")


def logged(word):
    with open(log, encoding="utf-8") as file:
        return sum(word in line for line in file)


def gone(load, name):
    lost = load.missing(client)
    ok(not lost, f"{name}: every answered run is in the store, as it was answered", lost[:3])
    ok(not load.odd, f"{name}: each answer is a result or says why there is none", load.odd[:2])
    refused = ", ".join(f"{count} {code}/{reason}" for (code, reason), count in load.refused.items())
    print(f"# {name}: {len(load.answered)} answered, 0 of them lost; {refused or 'none'} refused")


def suffer(name, code, word, begin, end):
    """Begins the fault under load, ends it, and checks both phases."""
    load = Load()
    ok(load.more(100), f"{name}: programs run")
    failed, well = logged("store.failed"), logged("store.well_again")
    begin()
    ok(wait_until(lambda: load.refusals(code, word) >= 40),
       f"{name}: runs are refused with {code}, and data.reason is {word}", load.refused)
    told = status()
    eq(told.get("trouble_word"), word, f"{name}: status shows it")
    ok(told["trouble"], f"{name}: and why")
    print(f"# {name}: {told['trouble']}")
    ok(logged("store.failed") > failed, f"{name}: so does the log")
    answered = len(load.answered)
    time.sleep(2.5)
    end()
    took = load.more(len(load.answered) - answered + 100, 120)
    ok(took is not None, f"{name}: it goes on by itself", took)
    ok(wait_until(lambda: status()["trouble"] is None), f"{name}: status forgets it")
    ok(logged("store.well_again") > well, f"{name}: the log says that it is over")
    load.finish()
    gone(load, name)
    if took:
        print(f"# {name}: a hundred more answers {took * 1000:.0f} ms after its end")


# ---- the faults ----------------------------------------------------------------------------------


def fill():
    block = b"\0" * 65536
    with open(os.path.join(state, "ballast"), "wb", buffering=0) as file:
        while block:
            try:
                file.write(block)
            except OSError:
                block = block[:len(block) // 2]


def empty():
    os.unlink(os.path.join(state, "ballast"))


class Holder:
    """Another program holds the write lock."""

    def begin(self):
        self.base = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
        self.base.execute("PRAGMA busy_timeout = 5000")
        self.base.execute("BEGIN IMMEDIATE")

    def end(self):
        self.base.execute("ROLLBACK")
        self.base.close()


def freeze():
    subprocess.run(["chattr", "+i", database, database + "-wal"], check=True)


def thaw():
    subprocess.run(["chattr", "-i", database, database + "-wal"], check=True)


def full():
    suffer("full disk", "internal", "full", fill, empty)


def runs_now():
    return sum(runtime["running"] for runtime in status()["runtimes"])


def begun_and_locked(holder):
    """The records of programs that have run cannot be written: "busy" and 75 would mean that nothing ran."""
    code = "import time; time.sleep(1.5)"
    other = Client()
    with subprocess.Popen(["cectl", "run", "-c", code], stderr=subprocess.PIPE, text=True) as run:
        msgid = other.send("run", language="python", code=code)
        ok(wait_until(lambda: runs_now() == 2), "lock: two programs begin")
        holder.begin()
        told = run.stderr.read()
        error = other.receive(msgid)[0] or {}
        holder.end()
        eq(run.wait(60), 125, "lock: a run that began and cannot be recorded exits with 125")
    ok("the program ran, and the run could not be recorded" in told, "lock: and says that it ran", told)
    data = error.get("data") or {}
    eq((error.get("code"), data.get("reason"), data.get("retry_after_ms")), ("internal", "locked", None),
       "lock: the error is internal, and nobody is told to send it again")
    ok(wait_until(lambda: status()["trouble"] is None), "lock: which is over with the lock")


def locked():
    holder = Holder()
    begun_and_locked(holder)
    load = Load()
    ok(load.more(50), "lock: programs run")
    holder.begin()
    time.sleep(1)
    holder.end()
    ok(load.more(50), "lock: who holds it for a second is waited for")
    load.finish()
    eq(sum(load.refused.values()), 0, "lock: and no run is refused for it")
    gone(load, "a short lock")
    suffer("lock", "busy", "locked", holder.begin, holder.end)


def unwritable():
    suffer("immutable files", "internal", "read_only", freeze, thaw)


def read_only():
    """The kernel found the file system damaged; only a new mount repairs that."""
    device = os.path.basename(subprocess.run(
        ["findmnt", "-n", "-o", "SOURCE", state], capture_output=True, text=True, check=True).stdout.strip())
    load = Load()
    ok(load.more(100), "read-only: programs run")
    with open(f"/sys/fs/ext4/{device}/trigger_fs_error", "w", encoding="ascii") as file:
        file.write("1")
    ok(wait_until(lambda: load.refusals("internal", "read_only") >= 40),
       "read-only: runs are refused with internal, and data.reason is read_only", load.refused)
    eq(status().get("trouble_word"), "read_only", "read-only: status shows it")
    load.finish()
    gone(load, "read-only")
    with open(os.path.join(os.environ["TMPDIR"], "answered"), "w", encoding="ascii") as file:
        file.writelines(f"{run_id}\n" for run_id, _ in load.answered)


def put_back(file, place, page):
    """On the disk, too: read_only() keeps the kernel from writing what it still holds."""
    file.seek(place)
    file.write(page)
    file.flush()
    os.fsync(file.fileno())


def damaged():
    """Pages of old records become unreadable; then they are restored."""
    load = Load()
    load.more(1500)
    load.finish()
    ok(wait_until(lambda: status()["check"] and not status()["check"]["damages"]),
       "damage: a sound store is found to be sound", status()["check"])
    # No other work writes pages now: the rest of settling stays in the log.
    ok(wait_until(lambda: status()["store"]["unsettled"] < 256), "damage: the store is at rest")
    time.sleep(1)
    size = os.stat(database).st_size
    with open(database, "r+b") as file, contextlib.ExitStack() as stack:
        places = [size // 4096 * part // 10 * 4096 for part in range(3, 9)]
        for place in places:
            file.seek(place)
            stack.callback(put_back, file, place, file.read(4096))
            file.seek(place)
            file.write(b"\x5a" * 4096)
        file.flush()
        found = wait_until(lambda: status()["check"]["damages"])
        check = status()["check"]
        ok(found, "damage: it is found at the next look", check)
        print(f"# damage: {check.get('first')}")
        ok(logged("store.damaged") > 0, "damage: the log says so")
        bad = [run_id for run_id, _ in load.answered
               if client.receive(client.send("runs.get", run_id=run_id))[0]]
        ok(0 < len(bad) < len(load.answered), "damage: whole records are still told",
           f"{len(bad)} of {len(load.answered)}")
        error = client.receive(client.send("runs.get", run_id=bad[0]))[0] if bad else {}
        eq(error.get("code"), "internal", "damage: one that cannot be read is an error")
        print(f"# damage: {len(places)} pages, {len(bad)} of {len(load.answered)} records unreadable: "
              f"{error.get('message')}")
    ok(wait_until(lambda: not status()["check"]["damages"]), "damage: its end is found too")
    gone(load, "damage")
    ok(client.run("print(1)")["outcome"] == "ok", "damage: and programs run")


{"full": full, "locked": locked, "unwritable": unwritable, "read_only": read_only,
 "damaged": damaged}[kind]()
done()
