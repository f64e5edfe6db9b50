"""Reloads settings and policies while clients run programs: 221-reload.py CONF POLICIES TIMES

Each client connects anew for each of its runs, or keeps its connection.  Every fifth reload changes
the policies too, every seventh has a mistake and must be refused.  Afterwards each run that was
answered is in the record with the outcome and the policy that its client was told.
"""

import pathlib
import sys
import threading

import wire

CONF, POLICIES, TIMES = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
CLIENTS = 4

answered = {}
faults = []
over = threading.Event()


def settings(wait_min, mistake=False):
    lines = ['cgroups = "auto"', f'policies = "{POLICIES}"', f"wait_ms = {wait_min}min",
             f"queue_max = {1000 + wait_min}", "quue_max = 1" if mistake else ""]
    return "\n".join(lines) + "\n"


def policy(number):
    added = f'{{"python.imports": ["module{number}"]}}'
    return f'{{"name": "team", "description": "1", "extends": "observe", "lists_add": {added}}}\n'


def replace(path, text):
    new = path.with_suffix(".new")
    new.write_text(text)
    new.rename(path)


def work(number):
    client = None
    turn = 0
    while not over.is_set():
        turn += 1
        try:
            client = client or wire.Client()
            result = client.run(f"print({number}, {turn})", policy="team" if turn % 2 else "standard")
            if result["outcome"] != "ok" or result["stdout"] != f"{number} {turn}\n":
                faults.append((number, turn, result["outcome"], result.get("reason")))
            answered[result["run_id"]] = (result["outcome"], result["policy"]["digest"])
            if number % 2:
                client.close()
                client = None
        except (OSError, EOFError, RuntimeError) as fault:
            faults.append((number, turn, repr(fault)))
            client = None


def reloads():
    admin = wire.Client()
    for number in range(1, TIMES + 1):
        mistake = number % 7 == 0
        if number % 5 == 0:
            replace(POLICIES / "team.json", policy(number))
        replace(CONF, settings(1 + number % 50, mistake))
        result = admin.call("admin.reload")
        if result["reloaded"] == mistake:
            faults.append((number, "reload", result))


threads = [threading.Thread(target=work, args=(number,)) for number in range(CLIENTS)]
for thread in threads:
    thread.start()
try:
    reloads()
finally:
    over.set()
    for thread in threads:
        thread.join()

client = wire.Client()
for run_id, (outcome, digest) in answered.items():
    run = client.call("runs.get", run_id=run_id)
    run = run.get("run", run)
    if run["outcome"] != outcome or run["policy"]["digest"] != digest:
        faults.append((run_id, "told", outcome, digest, "recorded", run["outcome"], run["policy"]["digest"]))
digests = {digest for _, digest in answered.values()}
print(f"{TIMES} reloads, {len(answered)} answered runs under {len(digests)} policies, {len(faults)} faults")
for fault in faults[:10]:
    print(fault)
sys.exit(bool(faults) or len(answered) < CLIENTS)
