"""A reader that stays: how long the log grows, which process is named, which runs are refused, and the end."""

import json
import os
import subprocess
import sys
import time

from wire import Client, done, eq, ok

STATE, LOG = sys.argv[1:]
MOST = 16 << 20
DB = os.path.join(STATE, "ced.db")
READS = """
import sqlite3, sys
store = sqlite3.connect(sys.argv[1], isolation_level=None)
store.execute("BEGIN")
print(store.execute("SELECT count(*) FROM runs").fetchone()[0], flush=True)
sys.stdin.read()
"""


def reader():
    process = subprocess.Popen([sys.executable, "-c", READS, DB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    return process


def cectl(*words):
    process = subprocess.run(["cectl", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return process.returncode, process.stdout + process.stderr


def status():
    return json.loads(cectl("status", "--json")[1])


def until(holds):
    for _ in range(300):
        state = status()
        if holds(state):
            return state
        time.sleep(0.1)
    return state


def log_bytes():
    return os.path.getsize(DB + "-wal")


def write(holds):
    """Runs programs until one is refused or `holds()` is true.  Returns the error, or None."""
    for _ in range(600):
        error, _ = client.receive(client.send("run", language="python", code="import random; print(random.randbytes(150000).hex())"))
        if error or holds():
            return error
    return "nothing came of 600 runs"


client = Client()
client.run("print(1)")
eq(status()["log_held"], None, "nobody holds the log")
stays = reader()
named = f"(process {stays.pid})"

# --- before the ceiling ---------------------------------------------------------------------------

eq(write(lambda: log_bytes() > 10 << 20), None, "runs pass while somebody reads")
state = until(lambda state: state["log_held"])
held = state["log_held"]
ok(held and MOST / 2 <= held["bytes"] < MOST and held["most_bytes"] == MOST, "the log is told from half of its ceiling on", held)
ok(held and named in held["by"], "and who reads", held)
eq(held and held["command"], f"kill {stays.pid}", "and what to type")
eq(state["trouble"], None, "it is no trouble yet")
page = " ".join(cectl("status")[1].split())
ok("cannot be emptied: python" in page and named in page and f"kill {stays.pid}" in page, "the page says it too", page)
told = open(LOG, encoding="utf-8").read()
ok("store.log_held" in told and named in told, "so does the log")

# --- at the ceiling -------------------------------------------------------------------------------

error = write(lambda: False)
if not isinstance(error, dict):
    error = {"code": error, "message": "", "data": {}}
eq((error["code"], error["data"].get("reason")), ("busy", "locked"), "then runs are refused, with the reason")
ok(error["data"].get("retry_after_ms", 0) > 0, "and when it is worth asking again", error)
ok(named in error["message"] and f"kill {stays.pid}" in error["message"], "the refusal names who reads", error)
eq(client.receive(client.send("run", language="python", code="1"))[0]["code"], "busy", "the next one is refused, too")
state = until(lambda state: state["trouble_word"] == "locked")
ok(named in state["trouble"], "and so does status", state["trouble"])
ok(cectl("status")[1].startswith("\u2717"), "which does not begin with a tick")
before = log_bytes()
ok(before < MOST + (4 << 20), "the log is about as long as it may become", before)
code, said = cectl("gc", "--keep-runs", "1", "--reason", "room")
ok(code == 1 and named in said, "gc stops, and says why", said)
began = status()["trouble_ms"]
until(lambda state: state["trouble_ms"] > began + 3000)
ok(log_bytes() <= before + (1 << 20), "and it does not grow meanwhile", (before, log_bytes()))
eq(sum("store.failed" in line for line in open(LOG, encoding="utf-8")), 1, "the log has it once")

# --- when the reader ends -------------------------------------------------------------------------

stays.communicate()
eq(stays.returncode, 0, "the reader ends")
state = until(lambda state: state["trouble"] is None)
eq((state["trouble"], state["log_held"]), (None, None), "and it is well by itself")
eq(write(lambda: True), None, "runs pass again")
eq(write(lambda: status()["store"]["runs"] % 50 == 0), None, "and go on")
eq(status()["log_held"], None, "with a log that is emptied")
ok("store.log_free" in open(LOG, encoding="utf-8").read(), "the log says so")
eq(cectl("audit", "verify")[0], 0, "the record verifies")
done()
