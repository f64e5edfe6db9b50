"""Runs inside the guest of vm/restarts.t: restarts-guest.py RELOADS RESTARTS.  TAP."""

import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, "/opt/ced/source/tests/scenario")
os.environ["CED_SOCKET"] = "/run/ced/ced.sock"
from wire import Client, done, eq, ok  # noqa: E402

RELOADS, RESTARTS = int(sys.argv[1]), int(sys.argv[2])
CLIENTS = 3
CONF = "/etc/ced/ced.conf"

over = threading.Event()
answered = {}
faults = []
again = [0]


def ask(name):
    """The result of the run with this id, by as many connections as that takes."""
    while True:
        try:
            client = Client()
        except OSError as error:
            faults.append(f"{name}: no connection: {error}")
            return None
        try:
            return client.run(f"print({name!r})", id=name)
        except RuntimeError as error:
            if "draining" not in str(error):
                faults.append(f"{name}: {error}")
                return None
        except (OSError, EOFError):
            again[0] += 1
        finally:
            client.close()


def work(number):
    turn = 0
    while not over.is_set():
        turn += 1
        name = f"{number}-{turn}"
        result = ask(name)
        if result:
            answered[name] = result
            if (result["outcome"], result["stdout"]) != ("ok", name + "\n"):
                faults.append(f"{name}: {result['outcome']} {result.get('reason')} {result['stdout']!r}")


def systemctl(verb):
    told = subprocess.run(["systemctl", verb, "ced"], capture_output=True, text=True, check=False)
    return told.stderr.strip() if told.returncode else ""


def repeat(verb, times):
    """Does it so often, each time while a client was answered since the last."""
    began, failures = time.monotonic(), []
    for number in range(times):
        before = len(answered)
        trouble = systemctl(verb)
        if trouble:
            failures.append(f"{number}: {trouble}")
        until = time.monotonic() + 300
        while len(answered) == before and time.monotonic() < until:
            time.sleep(0.02)
    print(f"# {times} times {verb}: {time.monotonic() - began:.0f} s; {len(answered)} runs answered so far, "
          f"{again[0]} asked again")
    eq(failures, [], f"{times} times systemctl {verb}")


clients = [threading.Thread(target=work, args=(number,)) for number in range(CLIENTS)]
for client in clients:
    client.start()
repeat("reload", RELOADS)
repeat("restart", RESTARTS)
over.set()
for client in clients:
    client.join()
ok(not faults, "no client was refused and no run went wrong", faults[:5])
admin = Client()
lost = []
for name, result in answered.items():
    try:
        kept = admin.call("runs.get", run_id=result["run_id"])
        if (kept["outcome"], kept["stdout"]) != (result["outcome"], result["stdout"]):
            lost.append(name)
    except RuntimeError as error:
        lost.append(f"{name}: {error}")
eq(lost, [], f"each of the {len(answered)} answered runs is in the record")
status = admin.call("admin.status")
print(f"# reload: {status['reload']}")
done()
