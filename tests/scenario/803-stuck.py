import os
import signal
import subprocess
import sys
import threading
import time

from kills import start
from wire import Client, children, command, daemon_pid, done, eq, ok, wait_until

config = sys.argv[1]


def run(code="print(1)", **params):
    client = Client(timeout=120)
    try:
        return client.run(code, **params)
    finally:
        client.close()


def is_up():
    try:
        return run()["outcome"] == "ok"
    except Exception:
        return False


def parent(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return int(stat.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def below(pids):
    return [pid for pid in children(spawner.pid) if parent(pid) in pids and "zygote.py" in command(pid)]


def zygotes():
    return below([spawner.pid])


def inspectors():
    return [pid for pid in children(spawner.pid) if "inspector" in command(pid)]


def runtime():
    client = Client(timeout=120)
    try:
        return client.call("admin.status")["runtimes"][0]
    finally:
        client.close()


def stop(pids):
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    return pids


def go_on(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass


def gone(pids, seconds=60):
    return wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids), seconds)


spawner = start(config)
if not ok(wait_until(is_up), "the service is up"):
    done()

# All slots stop, with their workers.
wait_until(lambda: runtime()["warm"] >= 2)
stop(below(zygotes()))
ok(wait_until(lambda: run()["outcome"] == "ok" and run()["outcome"] == "ok"),
   "slots that stopped are replaced")
ok(wait_until(lambda: runtime()["warm"] >= 2), "all of them", runtime())

# A slot stops in the middle of a run, with init and worker.
ends = []
thread = threading.Thread(target=lambda: ends.append((run("while True: pass", limits={"wall_ms": 1000}), time.monotonic())))
began = time.monotonic()
thread.start()
wait_until(lambda: runtime()["running"] == 1)
stop(below(zygotes()))
stop(below(below(zygotes())))
thread.join()
result, over = ends[0]
eq(result["outcome"], "wall_limit", "a run whose slot stopped is told of its limit")
if os.path.exists("/sys/fs/cgroup/unified/cgroup.procs") or os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
    ok(os.getuid() != 0 or over - began < 20, f"soon after that has passed, in {over - began:.1f} s")
ok(wait_until(lambda: run()["outcome"] == "ok" and runtime()["warm"] >= 2), "and its place is made anew")

# The process that collects a run's files stops.  It is seen if the run's end is looked for often enough.
FILES = """
import pathlib, time
for number in range(200): pathlib.Path(f"{number}.txt").write_bytes(bytes(250_000))
time.sleep(3)
print("done")
raise SystemExit(3)
"""
LIMITS = {"wall_ms": 60000, "disk_bytes": 64 << 20, "artifact_count": 256, "artifact_bytes": 64 << 20}


def held_up(**params):
    """The result of a run or cell whose collector was stopped, or None."""
    ends = []
    thread = threading.Thread(target=lambda: ends.append(run(FILES, artifacts=["*.txt"], **params)))
    thread.start()
    # Nothing else is made now.  A worker that stopped while it was made would be given to a later run.
    wait_until(lambda: all(runtime()[word] == number for word, number in (("running", 1), ("making", 0))) and runtime()["warm"] >= 2)
    time.sleep(0.5)  # the program makes its files; whatever is forked for it is there
    slots = below(zygotes())
    known = set(below(slots))
    new = set()
    while thread.is_alive() and not new:
        new = set(below(slots)) - known
        stop(new)
    thread.join()
    go_on(new)  # a worker among them, which was made after a quick collector, is for later runs
    cut = any("not all files" in row["reason"] for row in ends[0].get("artifacts_skipped", []))
    return ends[0] if cut else None


ok(wait_until(lambda: runtime()["warm"] >= 2), "all workers are ready")
result = next(filter(None, (held_up(limits=LIMITS) for _ in range(20))), None)
ok(result and (result["outcome"], result["exit_code"], result["stdout"]) == ("exit", 3, "done\n"),
   "a run whose files come too late is told how it ended, and that files are missing",
   result and {key: result.get(key) for key in ("outcome", "reason", "exit_code", "artifacts_skipped")})
ok(wait_until(lambda: run()["outcome"] == "ok" and runtime()["warm"] >= 2), "and its place is made anew")

# The same in a cell: its session ends, since nobody knows when its slot can do something else.
def held_up_cell():
    client = Client(timeout=120)
    session = client.call("session.open", language="python", states=2, limits=LIMITS)["session"]
    first = client.call("run", session=session, code="x = 1")
    assert first["outcome"] == "ok", first
    client.call("session.keep", session=session)  # its state is kept before the next cell
    result = held_up(session=session)
    left = [row["session"] for row in client.call("session.list")["sessions"]]
    client.receive(client.send("session.close", session=session))
    client.close()
    return result and (result, left)


if os.getuid() == 0:
    result, left = next(filter(None, (held_up_cell() for _ in range(20))), (None, None))
    ok(result and (result["outcome"], result["exit_code"], result["session"].get("why")) == ("exit", 3, "killed") and not left,
       "a cell whose files come too late is told how it ended, and its session ends",
       result and {key: result.get(key) for key in ("outcome", "reason", "exit_code", "session")})
    ok(wait_until(lambda: run()["outcome"] == "ok" and runtime()["warm"] >= 2), "and its place is made anew, too")

# The zygote stops, and its slots are lost.
first = stop(zygotes())
for slot in below(first):
    os.kill(slot, signal.SIGKILL)
ok(wait_until(lambda: any(z not in first for z in zygotes())), "a zygote that opens no slot is replaced")
ok(wait_until(is_up), "and programs run again")
ok(gone(first), "the stopped one is dead")

# Both inspectors stop.
held = stop(inspectors())
began = time.monotonic()
result = run("print('who reads this?')")
ok(result["outcome"] == "policy_denied" and time.monotonic() - began < 40,
   "a program that nobody can read is refused in time", result)
ok(wait_until(lambda: run("print('or this?')")["outcome"] == "ok"), "then somebody reads again")
ok(gone(held), "and the stopped ones are dead")

# A signal to end during work: runs that can end do, the rest are cancelled, and all are answered.
answers = []


def ask(code):
    try:
        answers.append(run(code, limits={"wall_ms": 60000, "cpu_ms": 60000}))
    except Exception as error:  # kept: each is an answer that was owed
        answers.append({"outcome": str(error), "run_id": ""})


threads = [threading.Thread(daemon=True, target=ask, args=(f"import time\ntime.sleep({seconds})\nprint('done')",))
           for seconds in (1, 2, 50)]
for thread in threads:
    thread.start()
wait_until(lambda: runtime()["running"] == 3)
family = children(spawner.pid)
began = time.monotonic()
spawner.terminate()
time.sleep(0.3)
client = Client()
error, _ = client.receive(client.send("run", language="python", code="print(1)"))
eq(error and error["code"], "draining", "while it leaves it takes no new runs")
code = spawner.wait(80)
took = time.monotonic() - began
for thread in threads:
    thread.join()
eq(sorted(answer["outcome"] for answer in answers), ["canceled", "ok", "ok"], "what ran is answered")
ok(code == 0 and 9 < took < 45, f"it left in good order, after {took:.0f} s", code)
ok(gone(family), "with everything that it had started", [command(pid) for pid in family])

# The daemon itself is stopped (SIGSTOP) and then gets a signal to end.
spawner = start(config)
wait_until(is_up)
client = Client()
for answer in answers:
    eq(client.call("runs.get", run_id=answer["run_id"])["outcome"], answer["outcome"], "on the record as it was told")
client.close()
family = children(spawner.pid)
stop([daemon_pid(spawner.pid)])
began = time.monotonic()
spawner.terminate()
try:
    code = spawner.wait(80)
except subprocess.TimeoutExpired:
    code = None
    spawner.kill()
ok(code not in (None, 0), f"a daemon that does not obey is killed, after {time.monotonic() - began:.0f} s", code)
ok(gone(family), "and its house with it")
leaves = [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if os.path.basename(folder) == f"ced-{spawner.pid}"]
ok(not leaves, "and its cgroups", leaves)
done()
