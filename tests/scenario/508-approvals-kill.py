import collections
import os
import random
import sys
import threading
import time

from kills import PATIENCE, end, kill, seed, start, wait_for_daemon
from wire import Client, PATH, done, eq, ok, wait_until

config, rounds = sys.argv[1], int(sys.argv[2])
seed()
USER, APPROVERS = 4001, (4002, 4003)
uids = threading.Lock()  # all threads share the effective uid


def connect(uid, timeout=60):
    with uids:
        os.seteuid(uid)
        try:
            return Client(timeout=timeout)
        finally:
            os.seteuid(0)


def start_as_root():
    with uids:
        return start(config)


def is_up():
    try:
        with uids:
            os.chmod(os.path.dirname(PATH), 0o777)
            os.chmod(PATH, 0o666)
        client = connect(0, 30)
        good = client.run("print(1)")["outcome"] == "ok"
        client.close()
        return good
    except Exception:
        return False


lock = threading.Lock()
told_parked = {}  # run id -> its output if it runs
approved, denied = set(), set()  # as reported to an approver
maybe = collections.defaultdict(set)  # requested, without an answer
stop = threading.Event()
broken = collections.Counter()


def ask(number):
    """Keeps parking runs: some with inputs, some with an id, some from a client that stays."""
    count = 0
    while not stop.is_set():
        try:
            client = connect(USER)
            while not stop.is_set():
                count += 1
                mark = f"{number}-{count}"
                params = {"code": "import ctypes, sys\nprint(sys.argv[1:], sys.stdin.read(), open('f').read())",
                          "args": [mark], "stdin": "in " + mark, "files": [{"path": "f", "data": "file " + mark}],
                          "limits": {"wall_ms": 9000 + count % 100}}
                if count % 3 == 0:
                    params["id"] = mark
                answer = client.call("run", language="python", policy="review", detach=True, **params)
                with lock:
                    told_parked[answer["run_id"]] = f"['{mark}'] in {mark} file {mark}\n"
                time.sleep(random.uniform(0, 0.02))
        except Exception:
            broken["ask"] += 1
            time.sleep(0.05)


def decide(uid):
    """Decides about some of the waiting runs, by far not all."""
    while not stop.is_set():
        try:
            client = connect(uid)
            while not stop.is_set():
                with lock:
                    open_ones = [run for run in told_parked if run not in approved and run not in denied]
                # An approved program is checked again, and on a busy machine the line for that would become full.
                if len(open_ones) < 80 or client.call("admin.status")["in_progress"] > 32:
                    time.sleep(0.02)
                    continue
                for run_id in random.sample(open_ones, 5):
                    word = random.choice(["approve", "approve", "deny"])
                    msgid = client.send("approvals." + word, run_id=run_id)
                    with lock:
                        maybe[run_id].add(word)
                    error, _ = client.receive(msgid)
                    if error is None:
                        with lock:
                            (approved if word == "approve" else denied).add(run_id)
        except Exception:
            broken["decide"] += 1
            time.sleep(0.05)


spawner = start_as_root()
if not ok(wait_until(is_up, PATIENCE), "the service is up"):
    done()
threads = [threading.Thread(target=ask, args=(i,), daemon=True) for i in range(3)]
threads += [threading.Thread(target=decide, args=(uid,), daemon=True) for uid in APPROVERS]
for thread in threads:
    thread.start()

came_back = True
waited = []
for number in range(rounds):
    parked = len(told_parked)
    time.sleep(random.uniform(0.2, 1.0))
    wait_until(lambda: len(told_parked) >= parked + 10, PATIENCE)
    victim = wait_for_daemon(spawner) if number % 3 else spawner.pid
    with uids:
        kill(spawner, victim)
    spawner = start_as_root()
    came_back = came_back and wait_until(is_up, PATIENCE)
    try:
        waited.append(connect(0).call("admin.status")["parked"])
    except Exception:
        waited.append(-1)


def is_enough():
    return len(told_parked) > 100 and len(approved) > 20 and len(denied) > 10


wait_until(is_enough, PATIENCE)
stop.set()
for thread in threads:
    thread.join()
ok(came_back, f"the service came back {rounds} times")

admin = Client()
user = connect(USER, 60)
wait_until(lambda: admin.call("admin.status")["in_progress"] == 0, PATIENCE)
records = {run_id: admin.call("runs.get", run_id=run_id) for run_id in told_parked}
states = collections.Counter((record["state"], record["outcome"]) for record in records.values())
print(f"# {len(told_parked)} were told to be parked; approvers were told: {len(approved)} approved, {len(denied)} denied; "
      f"{broken['ask']} and {broken['decide']} connections broke")
print("# parked after each start:", waited)
print("# after the last start:", {f"{state} {outcome or ''}".strip(): count for (state, outcome), count in states.items()})
ok(is_enough(), "there was load", len(told_parked))
eq(approved & denied, set(), "no run was both approved and denied")


def wrong(runs, good):
    return [(run, records[run]["state"], records[run]["outcome"], records[run].get("reason")) for run in runs if not good(records[run])][:3]


# A daemon whose spawner was killed still has time for an orderly end.
begun = ("ok", "lost", "canceled")


def unchecked(record):
    """The second check made no decision: its inspector was killed with the spawner, which denies the run as always,
    or the host had no processor time for an inspector, which is told as such.  The run never began."""
    if record["outcome"] == "sandbox_error":
        return record["ran"] == "no" and record["reason"] == "too many programs wait to be checked"
    findings = record["policy"]["findings"] if record["outcome"] == "policy_denied" else []
    return any(finding["rule"] in ("policy.unreadable", "policy.absent") for finding in findings)


bad = wrong(approved, lambda it: it["outcome"] in begun or unchecked(it))
ok(not bad, f"{len(approved)} that were approved have run, or had begun when the daemon died", bad)
bad = wrong(denied, lambda it: it["outcome"] == "approval_denied" and it["ran"] == "no")
ok(not bad, f"{len(denied)} that were denied were denied, and never ran", bad)
untouched = set(told_parked) - set(maybe)
bad = wrong(untouched, lambda it: it["state"] == "parked")
ok(not bad, f"{len(untouched)} that nobody decided about wait still", bad)
half = set(maybe) - approved - denied
bad = wrong(half, lambda it: it["state"] == "parked" or it["outcome"] in begun + ("approval_denied",) or unchecked(it))
ok(not bad, f"{len(half)} whose approver was told nothing wait, or are what was decided", bad)
bad = [(run, record["outcome"]) for run, record in records.items()
       if record["outcome"] in ("ok", "lost") and "approve" not in maybe[run]]
ok(not bad, "nothing ran that nobody let run", bad[:3])
bad = [(run, record["stdout"], told_parked[run]) for run, record in records.items()
       if record["outcome"] == "ok" and record["stdout"] != told_parked[run]]
ok(not bad, "what ran had the inputs that came with it", bad[:3])
lost = [run for run in approved if records[run]["outcome"] in ("lost", "canceled")]
print(f"# of the approved {len(lost)} had begun when the daemon was killed, and are lost as any run is")

acts = collections.Counter()
before = {}
while True:
    page = admin.call("admin.acts", limit=1000, **before)
    for act in page["acts"]:
        if act["method"].startswith("approvals."):
            acts[act["result"]["run_id"]] += 1
    if not page["more"]:
        break
    before = {"before": page["acts"][-1]["act"]}
twice = [run for run, count in acts.items() if count > 1]
ok(not twice, f"{sum(acts.values())} acts are recorded, never two about one run", twice[:3])
silent = [run for run in approved | denied if not acts[run]]
ok(not silent, "and one for each decision that was told", silent[:3])

# The remaining parked runs can still be approved and run.
left = [run for run, record in records.items() if record["state"] == "parked"]
approver = connect(APPROVERS[0], 60)
listed, after = set(), {}
while True:
    page = approver.call("approvals.list", limit=100, **after)
    listed |= {run["run_id"] for run in page["waiting"]}
    if not page["more"]:
        break
    after = {"after": page["waiting"][-1]["run_id"]}
# A client that lost the daemon may have a parked run without having its answer.
ok(set(left) <= listed, f"{len(left)} are listed ({len(listed) - len(left)} more, whose client was not told)")
bad = []
for first in range(0, len(left), 32):
    for run_id in left[first:first + 32]:
        approver.call("approvals.approve", run_id=run_id)
    for run_id in left[first:first + 32]:
        result = user.call("wait", run_id=run_id)
        if (result["outcome"], result["stdout"]) != ("ok", told_parked[run_id]):
            bad.append((run_id, result["outcome"], result["reason"], result["stdout"]))
ok(not bad, f"all {len(left)} run when they are approved, with their inputs", bad[:3])
for run_id in listed - set(left):
    approver.call("approvals.deny", run_id=run_id)
wait_until(lambda: admin.call("admin.status")["parked"] == 0, PATIENCE)
eq(admin.call("admin.status")["parked"], 0, "then nothing waits")
eq(end(spawner), 0, "it ends when told to")
done()
