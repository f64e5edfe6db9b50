import json
import os
import random
import subprocess
import sys
import time

from kills import PATIENCE, Load, end, kill, seed, start, wait_for_daemon
from wire import Client, done, ok, wait_until

config, kills = sys.argv[1], int(sys.argv[2])
seed()


def wait_for_answers(more):
    """Waits for load, not only for a daemon that is ready."""
    before = len(load.answered)
    return wait_until(lambda: len(load.answered) >= before + more, PATIENCE)


def verify(*arguments):
    """cectl's output and its exit status."""
    result = subprocess.run(["cectl", *arguments, "audit", "verify", "--json"], capture_output=True, text=True)
    try:
        return result.returncode, json.loads(result.stdout)
    except ValueError:
        return result.returncode, {"found": result.stderr, "checked": {}}


spawner = start(config)
load = Load(clients=6, pause=0.02)
under_load = wait_for_answers(20)
killed = {"ced": 0, "spawner": 0}
begun = time.monotonic()
for number in range(kills):
    time.sleep(random.uniform(0, 0.05))
    kind = ("ced", "spawner")[number % 2]
    kill(spawner, wait_for_daemon(spawner) if kind == "ced" else spawner.pid)
    killed[kind] += 1
    spawner = start(config)
    under_load = under_load and wait_for_answers(random.randrange(1, 12))
took = time.monotonic() - begun
load.end()
ok(under_load, "between any two kills runs were answered")

client = Client(timeout=60)
missing = load.check_records(
    client, lambda record, outcome, stdout: record["outcome"] == outcome and record["stdout"] == stdout)
load.check_answers()
lost = client.call("stats", by="outcome")
lost = sum(row["runs"] for row in lost["by"] if row["key"] == "lost")
status, report = verify()
ok(status == 0 and report["found"] == 0, "the chain over all of it verifies", report)
alarm = client.call("admin.status")["audit"]["alarm"]
ok(alarm is None, "and no start took it for one that was rolled back", alarm)
client.close()
ok(end(spawner) == 0, "it ends when told to")
status, copy = verify("--store", os.environ["CED_STATE"])
ok(status == 0 and copy["found"] == 0, "a copy verifies without a daemon", copy)
print(f"# {sum(killed.values())} kills ({killed['ced']} of ced, {killed['spawner']} of the spawner) in {took:.0f} s: "
      f"{len(load.answered)} answered runs, {missing} missing, {lost} lost in flight, {load.broken} connections broke, "
      f"{report['checked'].get('chain')} links and {report['checked'].get('checkpoints')} checkpoints verified")
done()
