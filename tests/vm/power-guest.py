"""Runs inside the guest of vm/power.t.

run     programs for ever, from several clients; says of each answer, as soon as it is here, what it was, of some
        runs before they end that the store has promised to know them, and from time to time that it wrote a file
        that nobody synced
check   reads such lines, with "cut" between those of one power cut and the next: each answer is in the store as
        it was given, and what was in flight is there, too.  TAP, and a line of numbers for each cut
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
LONG = "import time\ntime.sleep({seconds})\nprint({seed})"
WALL_MS = 60000
LABELS = {"kind": "in flight"}
speaking = threading.Lock()


def say(*words):
    with speaking:
        sys.stdout.write(" ".join(map(str, words)) + "\n")
        sys.stdout.flush()


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# ---- load --------------------------------------------------------------------------------------


def answered(told):
    say("answered", told["run_id"], told["outcome"], digest(told["stdout"]))


def work(client):
    size = random.choice((1, 100, 5000, 50000))
    answered(client.run(PROGRAM.format(seed=random.getrandbits(60), size=size, status=random.choice((0, 0, 3)))))


def fly(client, seconds):
    """One that the power may find in flight: its id is told when it is on the disk, its result when there is one."""
    code = LONG.format(seconds=seconds, seed=random.getrandbits(60))
    told = client.run(code, detach=True, labels=LABELS, limits={"wall_ms": WALL_MS})
    if "outcome" not in told:
        say("begun", told["run_id"], digest(code))
        told = client.call("wait", run_id=told["run_id"])
    answered(told)


def forever(act):
    client = Client(timeout=300)
    while True:
        try:
            act(client)
        except RuntimeError as error:  # refused, as by a house that is full
            say("refused", error)
            time.sleep(0.2)


def run():
    acts = [work] * CLIENTS
    acts += [lambda client: fly(client, 40), lambda client: fly(client, random.choice((0.1, 1, 10)))]
    for act in acts:
        threading.Thread(target=forever, args=(act,), daemon=True).start()
    while True:
        number = time.time_ns()  # a file that is written anew is allocated at once, a new one is not
        with open(f"/root/unsynced-{number}", "wb") as file:
            file.write(b"x" * 65536)
        say("unsynced", number)
        time.sleep(0.2)


# ---- after a cut -------------------------------------------------------------------------------

said = None


def is_up():
    global said
    try:
        said = Client(timeout=300).run("print(1)")
    except (OSError, EOFError, RuntimeError) as error:
        said = error
    return isinstance(said, dict) and said["outcome"] == "ok"


def asked(client, run_id, stream):
    """The record, and a digest over one of its streams; None: there is no such record."""
    try:
        return client.call("runs.get", run_id=run_id), digest(client.call("runs.output", run_id=run_id, stream=stream)["data"])
    except RuntimeError:
        return None


def look_at_answers(client, answers):
    """How many are in the store, and those that are there as another one or not at all."""
    wrong = []
    for run_id, outcome, told in answers:
        found = asked(client, run_id, "stdout")
        if not found or (found[0]["outcome"], found[1]) != (outcome, told):
            wrong.append((run_id, outcome, found and found[0]["outcome"]))
    return len(answers) - sum(row[2] is None for row in wrong), wrong


def is_known(record):
    """Whether what was known of one that is lost is in its record."""
    request = record["request"]
    return (record["ran"] == "unknown" and record["caller"]["uid"] == 0 and request["language"] == "python"
            and request["labels"] == LABELS and request["limits"]["wall_ms"] == WALL_MS)


def look_at_flights(client, flights):
    """How many became lost, how many had ended with nobody to hear of it, and those of which neither is so."""
    lost, ended, wrong = 0, 0, []
    for run_id, told in flights:
        found = asked(client, run_id, "code")
        outcome = found and found[0]["outcome"]
        lost += outcome == "lost"
        ended += outcome == "ok"
        if not found or found[1] != told or outcome not in ("lost", "ok") or (outcome == "lost" and not is_known(found[0])):
            wrong.append((run_id, found and (outcome, found[0])))
    return lost, ended, wrong


def rows_by_cut():
    """Of each cut a map: kind of line to the words behind it."""
    cuts = [{}]
    for line in sys.stdin:
        kind, *words = line.split() or [""]
        if kind == "cut":
            cuts.append({})
        else:
            cuts[-1].setdefault(kind, []).append(words)
    return cuts


def look_at(client, rows):
    answers = rows.get("answered", [])
    ids = {row[0] for row in answers}
    flights = [row for row in rows.get("begun", []) if row[0] not in ids]
    found, wrong = look_at_answers(client, answers)
    lost, ended, odd = look_at_flights(client, flights)
    return [len(answers), found, len(answers) - len(wrong), len(flights), lost, ended], wrong, odd


def tell(name, numbers):
    answers, found, same, flights, lost, ended = numbers
    print(f"# {name}: {answers} answered, {found} found, {same} as they were answered; {flights} in flight: "
          f"{lost} lost, {ended} had ended")


def is_whole(number):
    try:
        with open(f"/root/unsynced-{number}", "rb") as file:
            return file.read().count(b"x") == 65536
    except FileNotFoundError:
        return False


def some_were_lost(cuts):
    """The kernel writes now and then by itself what nobody synced: maybe just before a cut, but not just before each file."""
    return not all(is_whole(number) for number, *_ in cuts[-1]["unsynced"][-5:])


def check():
    cuts = rows_by_cut()
    ok(some_were_lost(cuts), "some of what was written last and not synced is gone, so the power was")
    ok(wait_until(is_up, 300), "the service is up by itself and runs programs", said)
    client = Client(timeout=300)
    looks = [look_at(client, rows) for rows in cuts]
    total = [sum(column) for column in zip(*(numbers for numbers, _, _ in looks))]
    tell(f"cut {len(cuts)}", looks[-1][0])
    wrong, odd = ([row for look in looks for row in look[part]] for part in (1, 2))
    ok(total[0] == total[1], f"each of {total[0]} answered runs is in the store", wrong[:3])
    ok(total[0] == total[2], "as it was answered, to the byte", wrong[:3])
    ok(not odd, f"each of {total[3]} in flight is there with what was known of it: {total[4]} lost, {total[5]} had ended", odd[:3])
    listed = client.call("runs.list", outcome="running", limit=1000)["runs"]
    eq([row["run_id"] for row in listed], [], "none is called running that is not")
    lost = {row["key"]: row["runs"] for row in client.call("stats", by="outcome")["by"]}.get("lost", 0)
    ok(lost >= total[4], f"{lost} are lost in all, with those that nobody was promised", total)
    tell(f"{len(cuts)} cuts in all", total)
    done()


run() if sys.argv[1] == "run" else check()
