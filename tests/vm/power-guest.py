"""Runs inside the guest of vm/power.t.

run     programs for ever, from several clients; says of each answer, as soon as it is here, what it
        was, and from time to time that it wrote a file that nobody synced
check   reads such lines: each answer is in the store as it was given.  TAP
"""

import hashlib
import os
import random
import sys
import threading
import time

sys.path.insert(0, "/opt/ced/source/tests/scenario")
os.environ["CED_SOCKET"] = "/run/ced/ced.sock"
from wire import Client, done, eq, ok, wait_until  # noqa: E402

CLIENTS = 4
PROGRAM = "import random, sys\nprint(random.Random({seed}).randbytes({size}).hex())\nsys.exit({status})"


def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def work():
    client = Client(timeout=120)
    while True:
        size = random.choice((1, 100, 5000, 50000))
        code = PROGRAM.format(seed=random.getrandbits(60), size=size, status=random.choice((0, 0, 3)))
        result = client.run(code)
        say("answered", result["run_id"], result["outcome"], digest(result["stdout"]))


def run():
    for _ in range(CLIENTS):
        threading.Thread(target=work, daemon=True).start()
    while True:
        number = time.time_ns()  # a file that is written anew is allocated at once, a new one is not
        with open(f"/root/unsynced-{number}", "wb") as file:
            file.write(b"x" * 65536)
        say("unsynced", number)
        time.sleep(1)


def is_up():
    try:
        return Client(timeout=120).run("print(1)")["outcome"] == "ok"
    except (OSError, EOFError, RuntimeError):
        return False


def check():
    rows = [line.split() for line in sys.stdin]
    answered = [row[1:] for row in rows if row[0] == "answered"]
    unsynced = [row[1] for row in rows if row[0] == "unsynced"]
    try:
        with open(f"/root/unsynced-{unsynced[-1]}", "rb") as file:
            left = file.read().count(b"x")
    except FileNotFoundError:
        left = 0
    eq(left, 0, "what was written last and not synced is gone, so the power was")
    ok(wait_until(is_up, 60), "the service is up by itself and runs programs")
    client = Client(timeout=120)
    missing, different = [], []
    for run_id, outcome, told in answered:
        try:
            record = client.call("runs.get", run_id=run_id)
            page = client.call("runs.output", run_id=run_id, stream="stdout")
        except RuntimeError as error:
            missing.append((run_id, error))
            continue
        if (record["outcome"], digest(page["data"])) != (outcome, told):
            different.append((run_id, outcome, record["outcome"]))
    ok(not missing, f"each of {len(answered)} answered runs is in the store", missing[:3])
    ok(not different, "as it was answered, to the byte", different[:3])
    listed = client.call("runs.list", limit=1000)["runs"]
    eq([row["run_id"] for row in listed if row.get("state") == "running"], [], "none is called running that is not")
    done()


run() if sys.argv[1] == "run" else check()
