"""Ctrl-C, SIGTERM and SIGHUP: cectl shows the run's output so far and its id, and cancels it."""

import json
import os
import signal
import subprocess
import sys
import time

from wire import Client, done, eq

client = Client()
SLEEPS = "import time; print('begun', flush=True); time.sleep(50)"
LIMIT = ["--timeout", "55s"]


def start(*words, **more):
    def usual():
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            signal.signal(number, signal.SIG_DFL)

    return subprocess.Popen(["cectl", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, preexec_fn=more.get("before", usual))


def running():
    """Waits for a run that has begun to write.  Returns the newest."""
    while True:
        runs = client.call("runs.list", outcome="running", limit=1)["runs"]
        if runs:
            time.sleep(0.5)  # time for its first output to arrive
            return runs[0]["run_id"]
        time.sleep(0.02)


def interrupt(process, number=signal.SIGINT):
    run_id = running()
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    return run_id, out, err, process.returncode


for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    run_id, out, err, status = interrupt(start("run", "-c", SLEEPS, *LIMIT), number)
    name = signal.Signals(number).name
    eq(out, "begun\n", f"{name}: what it has written so far is shown")
    eq((run_id in err, "canceled" in err), (True, True), "with the run's id and how it ended")
    eq(status, -number, "and cectl ends by the signal, so that a shell leaves its loop")
    eq(client.call("runs.get", run_id=run_id)["outcome"], "canceled", "the run is cancelled")

run_id, out, err, status = interrupt(start("run", "--json", "-c", SLEEPS, *LIMIT))
it = json.loads(out)
eq((it["run_id"], it["outcome"], it["stdout"]), (run_id, "canceled", "begun\n"), "--json has it all, too")
run_id, out, err, status = interrupt(start("run", "--stream", "-c", SLEEPS, *LIMIT))
eq((out, run_id in err), ("begun\n", True), "--stream shows nothing twice")
floods = "while True: print('x' * 100, flush=True)"
process = start("run", "--stream", "-c", floods, *LIMIT, "--limit", "stdout=16M", "--on-output-limit", "truncate")
time.sleep(1)
process.send_signal(signal.SIGINT)
out, err = process.communicate(timeout=120)
eq((out[:1], "canceled" in err or "limit" in err, process.returncode), ("x", True, -signal.SIGINT), "nor is it deaf while output comes")

detached = client.call("run", language="python", code=SLEEPS, detach=True, limits={"wall_ms": 55000})["run_id"]
process = start("wait", detached)
time.sleep(1)
process.send_signal(signal.SIGINT)
out, err = process.communicate(timeout=120)
eq((detached in err, "continues" in err, process.returncode), (True, True, -signal.SIGINT), "who only waits says that the run continues")
eq(client.call("runs.get", run_id=detached)["state"], "running", "and it does")
client.call("cancel", run_id=detached)
client.call("wait", run_id=detached)


def ignore():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


process = start("run", "-c", SLEEPS, *LIMIT, before=ignore)
run_id = running()
process.send_signal(signal.SIGHUP)
time.sleep(0.7)
eq(client.call("runs.get", run_id=run_id)["state"], "running", "what nohup ignores stays ignored")
process.send_signal(signal.SIGINT)
process.communicate(timeout=120)

# A daemon that does not answer: the second Ctrl-C ends cectl at once.
process = start("run", "-c", SLEEPS, *LIMIT)
run_id = running()
ced = int(sys.argv[1])
os.kill(ced, signal.SIGSTOP)
process.send_signal(signal.SIGINT)
time.sleep(0.5)
eq(process.poll(), None, "the first one waits for the daemon's answer")
process.send_signal(signal.SIGINT)
out, err = process.communicate(timeout=120)
os.kill(ced, signal.SIGCONT)
eq(process.returncode, -signal.SIGINT, "the second does not")
eq(client.call("wait", run_id=run_id)["outcome"], "canceled", "the run is cancelled all the same")
done()
