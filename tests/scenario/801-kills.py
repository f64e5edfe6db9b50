import os
import random
import signal
import sys
import time

from kills import PATIENCE, Load, end, kill, seed, start
from wire import Client, children, command, daemon_pid, done, ok, wait_until

config, rounds = sys.argv[1], int(sys.argv[2])
seed()


def is_up():
    try:
        client = Client(timeout=30)
        good = client.run("print(1)")["outcome"] == "ok"
        client.close()
        return good
    except Exception:
        return False


def jailed(spawner):
    """Zygotes, slots and workers: all processes below the spawner except ced and the inspectors."""
    return [pid for pid in children(spawner) if "zygote.py" in command(pid)]


def orphans():
    """Processes of our jails that are no longer below the spawner."""
    return [(pid, command(pid)) for pid in seen - children(spawner.pid) if "zygote.py" in command(pid)]


seen = set()
spawner = start(config)
if not ok(wait_until(is_up, PATIENCE), "the service is up"):
    done()
load = Load(clients=8, pause=0.05)

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
    if kind in ("ced", "spawner"):
        survivors += [(kind, pid, command(pid)) for pid in kill(spawner, victim)]
        spawner = start(config)
    else:
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            continue
    kinds[kind] += 1
    came_back = came_back and wait_until(is_up, PATIENCE)

enough = wait_until(lambda: len(load.answered) > 100, PATIENCE)
load.end()
ok(wait_until(lambda: not orphans(), PATIENCE), "nothing of a killed slot or zygote survives", orphans())
print("# killed:", ", ".join(f"{kind} {count} times" for kind, count in kinds.items()),
      f"- {len(load.answered)} runs were answered, {load.broken} connections broke")
ok(came_back, "the service came back each time")
ok(not survivors, "nothing of a killed house survives", survivors)
ok(enough, "there was load")

load.check_answers()
# A program is refused if its inspector was killed during the check.
odd = [row for row in load.answered if row[1] not in ("ok", "sandbox_error", "signal", "canceled", "policy_denied")]
ok(not odd, "a killed worker is told as what it was", odd[:3])

client = Client()
load.check_records(client, lambda record, outcome, stdout: record["outcome"] == outcome and (
    outcome != "ok" or record["stdout"] == stdout))
running = [row for row in client.call("runs.list", limit=1000)["runs"] if row.get("state") == "running"]
ok(not running, "and none is called running that is not", running[:3])
client.close()

below = children(spawner.pid)
ok(end(spawner) == 0, "it ends when told to")
wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in below), PATIENCE)
ok(not [pid for pid in below if os.path.exists(f"/proc/{pid}")], "and everything with it")
leaves = [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if os.path.basename(folder) == f"ced-{spawner.pid}"]
ok(not leaves, "and its cgroups", leaves)
done()
