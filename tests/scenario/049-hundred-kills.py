import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

from wire import Client, PATH, children, daemon_pid, done, lives, ok, wait_until

config, kills = sys.argv[1], int(sys.argv[2])
state = os.environ["CED_STATE"]
seed = int(os.environ.get("CED_SEED", time.time()))
random.seed(seed)
print(f"# CED_SEED={seed}")
log = open(os.environ["CED_LOG"], "ab")
answered = []  # (run id, outcome, stdout, what it was to print)
lock = threading.Lock()
stop = threading.Event()
broken = [0]


def start():
    return subprocess.Popen(["ced-spawner", "--", "--socket", PATH, "--state", state, "--config", config],
                            stdout=log, stderr=log, stdin=subprocess.DEVNULL)


def work(number):
    count = 0
    while not stop.is_set():
        try:
            client = Client(timeout=10)
            while not stop.is_set():
                count += 1
                text = f"{number}-{count}"
                result = client.run(f"print('{text}')")
                with lock:
                    answered.append((result["run_id"], result["outcome"], result["stdout"], text))
        except Exception:
            broken[0] += 1
            time.sleep(0.02)


def wait_for_answers(more):
    """Load, and not only a daemon that has come up."""
    before = len(answered)
    return wait_until(lambda: len(answered) >= before + more, 30)


def verify(*arguments):
    """What cectl finds, and how it left."""
    result = subprocess.run(["cectl", *arguments, "audit", "verify", "--json"], capture_output=True, text=True)
    try:
        return result.returncode, json.loads(result.stdout)
    except ValueError:
        return result.returncode, {"found": result.stderr, "checked": {}}


spawner = start()
threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
for thread in threads:
    thread.start()
under_load = wait_for_answers(20)
killed = {"ced": 0, "spawner": 0}
begun = time.monotonic()
for number in range(kills):
    time.sleep(random.uniform(0, 0.05))
    below = children(spawner.pid)
    kind = ("ced", "spawner")[number % 2]
    victim = daemon_pid(spawner.pid) if kind == "ced" else spawner.pid
    if victim is None:
        kind, victim = "spawner", spawner.pid
    os.kill(victim, signal.SIGKILL)
    killed[kind] += 1
    spawner.wait(20)
    wait_until(lambda: not any(map(lives, below)), 5)
    spawner = start()
    under_load = under_load and wait_for_answers(random.randrange(1, 12))
took = time.monotonic() - begun
stop.set()
for thread in threads:
    thread.join()
ok(under_load, "between any two kills runs were answered")

client = Client(timeout=60)
missing, different = [], []
for run_id, outcome, stdout, text in answered:
    try:
        record = client.call("runs.get", run_id=run_id)
    except RuntimeError as error:
        missing.append((run_id, str(error)))
        continue
    if record["outcome"] != outcome or record["stdout"] != stdout:
        different.append((run_id, outcome, record["outcome"]))
ok(not missing, "each answered run is in the store", missing[:3])
ok(not different, "as it was answered", different[:3])
wrong = [row for row in answered if row[1] == "ok" and row[2] != row[3] + "\n"]
ok(not wrong, "no answer belonged to another run", wrong[:3])
lost = client.call("stats", by="outcome")
lost = sum(row["runs"] for row in lost["by"] if row["key"] == "lost")
status, report = verify()
ok(status == 0 and report["found"] == 0, "the chain over all of it verifies", report)
alarm = client.call("admin.status")["audit"]["alarm"]
ok(alarm is None, "and no start took it for one that was rolled back", alarm)
client.close()
spawner.terminate()
ok(spawner.wait(20) == 0, "it ends when told to")
status, copy = verify("--store", state)
ok(status == 0 and copy["found"] == 0, "a copy verifies without a daemon", copy)
print(f"# {sum(killed.values())} kills ({killed['ced']} of ced, {killed['spawner']} of the spawner) in {took:.0f} s: "
      f"{len(answered)} answered runs, {len(missing)} missing, {lost} lost in flight, {broken[0]} connections broke, "
      f"{report['checked'].get('chain')} links and {report['checked'].get('checkpoints')} checkpoints verified")
done()
