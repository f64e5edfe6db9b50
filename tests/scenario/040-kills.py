import os
import random
import signal
import subprocess
import sys
import threading
import time

from wire import Client, PATH, children, command, daemon_pid, done, lives, ok, wait_until

config, rounds = sys.argv[1], int(sys.argv[2])
seed = int(os.environ.get("CED_SEED", time.time()))
random.seed(seed)
print(f"# CED_SEED={seed}")
log = open(os.environ["CED_LOG"], "ab")


def start():
    return subprocess.Popen(["ced-spawner", "--", "--socket", PATH, "--state", os.environ["CED_STATE"],
                             "--config", config], stdout=log, stderr=log, stdin=subprocess.DEVNULL)


def is_up():
    try:
        client = Client(timeout=5)
        good = client.run("print(1)")["outcome"] == "ok"
        client.close()
        return good
    except Exception:
        return False


answered = []  # run ids that a client has seen, with outcome and output
lock = threading.Lock()
stop = threading.Event()
broken = [0]


def work(number):
    """Runs programs for ever; a broken connection is what this is about, a wrong answer is not."""
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
            time.sleep(0.05)


def jailed(spawner):
    """Zygotes, slots and workers: whatever is below the spawner but ced and the inspectors."""
    return [pid for pid in children(spawner) if "zygote.py" in command(pid)]


def orphans():
    """Whatever was a jail of ours and is nobody's any more."""
    return [(pid, command(pid)) for pid in seen - children(spawner.pid) if "zygote.py" in command(pid)]


seen = set()
spawner = start()
if not ok(wait_until(is_up, 30), "the service is up"):
    done()
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for thread in threads:
    thread.start()

kinds = {"ced": 0, "spawner": 0, "zygote": 0, "worker": 0, "slot": 0, "inspector": 0}
survivors = []
came_back = True
for round_number in range(rounds):
    time.sleep(random.uniform(0.1, 0.8))
    kind = list(kinds)[round_number % len(kinds)]
    below = children(spawner.pid)
    jails = jailed(spawner.pid)
    seen |= set(jails)
    parents = {}
    for pid in jails:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                parents[pid] = int(stat.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            pass
    zygotes = [pid for pid, parent in parents.items() if parent == spawner.pid]
    slots = [pid for pid, parent in parents.items() if parent in zygotes]
    workers = [pid for pid, parent in parents.items() if parent in slots]
    inspectors = [pid for pid in below if "inspector" in command(pid)]
    victim = {"ced": daemon_pid(spawner.pid), "spawner": spawner.pid,
              "zygote": random.choice(zygotes) if zygotes else None,
              "worker": random.choice(workers) if workers else None,
              "slot": random.choice(slots) if slots else None,
              "inspector": random.choice(inspectors) if inspectors else None}[kind]
    if victim is None:
        continue
    try:
        os.kill(victim, signal.SIGKILL)
    except ProcessLookupError:
        continue
    kinds[kind] += 1
    if kind in ("ced", "spawner"):
        spawner.wait(20)
        wait_until(lambda: not any(map(lives, below)), 5)
        survivors += [(kind, pid, command(pid)) for pid in below if lives(pid)]
        spawner = start()
    came_back = came_back and wait_until(is_up, 30)

stop.set()
for thread in threads:
    thread.join()
ok(wait_until(lambda: not orphans(), 10), "nothing of a killed slot or zygote survives", orphans())
print("# killed:", ", ".join(f"{kind} {count} times" for kind, count in kinds.items()),
      f"- {len(answered)} runs were answered, {broken[0]} connections broke")
ok(came_back, "the service came back each time")
ok(not survivors, "nothing of a killed house survives", survivors)
ok(len(answered) > 100, "there was load")

wrong = [row for row in answered if row[1] == "ok" and row[2] != row[3] + "\n"]
ok(not wrong, "no answer belonged to another run", wrong[:3])
# A program whose inspector was killed over it is refused.
odd = [row for row in answered if row[1] not in ("ok", "sandbox_error", "signal", "canceled", "policy_denied")]
ok(not odd, "a killed worker is told as what it was", odd[:3])

client = Client()
missing = []
different = []
for run_id, outcome, stdout, text in answered:
    try:
        record = client.call("runs.get", run_id=run_id)
    except RuntimeError as error:
        missing.append((run_id, error))
        continue
    if record["outcome"] != outcome or (outcome == "ok" and record["stdout"] != stdout):
        different.append((run_id, outcome, record["outcome"]))
ok(not missing, f"each of {len(answered)} answered runs is in the store", missing[:3])
ok(not different, "as it was answered", different[:3])
running = [row for row in client.call("runs.list", limit=1000)["runs"] if row.get("state") == "running"]
ok(not running, "and none is called running that is not", running[:3])
client.close()

below = children(spawner.pid)
spawner.terminate()
ok(spawner.wait(20) == 0, "it ends when told to")
wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in below), 5)
ok(not [pid for pid in below if os.path.exists(f"/proc/{pid}")], "and everything with it")
leaves = [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if os.path.basename(folder) == f"ced-{spawner.pid}"]
ok(not leaves, "and its cgroups", leaves)
done()
