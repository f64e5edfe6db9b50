"""Shared by scenarios that kill the service under load: its start, the load, and the check of the store."""

import os
import random
import signal
import subprocess
import threading
import time

from wire import Client, PATH, children, daemon_pid, lives, ok, wait_until

PATIENCE = 120  # seconds: a busy machine takes many times as long for a start or an end
log = open(os.environ["CED_LOG"], "ab")


def seed():
    """Seeds the random numbers and prints the seed, so that a run can be repeated."""
    number = int(os.environ.get("CED_SEED", time.time()))
    random.seed(number)
    print(f"# CED_SEED={number}")


def start(config):
    return subprocess.Popen(["ced-spawner", "--", "--socket", PATH, "--state", os.environ["CED_STATE"],
                             "--config", config], stdout=log, stderr=log, stdin=subprocess.DEVNULL)


def end(spawner):
    """Asks the service to end, and waits.  Returns its exit status, or None if it is still there."""
    spawner.terminate()
    try:
        return spawner.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        return None


def kill(spawner, victim):
    """Kills the daemon or its spawner and waits for the end of all processes below.  Returns those that live."""
    below = children(spawner.pid)
    os.kill(victim, signal.SIGKILL)
    spawner.wait(PATIENCE)
    wait_until(lambda: not any(map(lives, below)), PATIENCE)
    return [pid for pid in below if lives(pid)]


def wait_for_daemon(spawner):
    """The daemon's pid, as soon as the spawner has started it."""
    wait_until(lambda: daemon_pid(spawner.pid), PATIENCE)
    return daemon_pid(spawner.pid)


class Load:
    """Clients that run programs without end.  Broken connections are expected; wrong answers are errors."""

    def __init__(self, clients, pause):
        self.answered = []  # run id, outcome and stdout as a client received them, and the expected output
        self.broken = 0     # connections
        self.pause = pause
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(clients)]
        for thread in self.threads:
            thread.start()

    def work(self, number):
        count = 0
        while not self.stop.is_set():
            try:
                client = Client(timeout=10)
                while not self.stop.is_set():
                    count += 1
                    text = f"{number}-{count}"
                    result = client.run(f"print('{text}')")
                    with self.lock:
                        self.answered.append((result["run_id"], result["outcome"], result["stdout"], text))
            except Exception:
                with self.lock:
                    self.broken += 1
                time.sleep(self.pause)

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def check_answers(self):
        wrong = [row for row in self.answered if row[1] == "ok" and row[2] != row[3] + "\n"]
        ok(not wrong, "no answer belonged to another run", wrong[:3])

    def check_records(self, client, is_same):
        """Checks each answered run's record with `is_same(record, outcome, stdout)`.  Returns how many fail."""
        missing, different = [], []
        for run_id, outcome, stdout, _ in self.answered:
            try:
                record = client.call("runs.get", run_id=run_id)
            except RuntimeError as error:
                missing.append((run_id, str(error)))
                continue
            if not is_same(record, outcome, stdout):
                different.append((run_id, outcome, record["outcome"]))
        ok(not missing, f"each of {len(self.answered)} answered runs is in the store", missing[:3])
        ok(not different, "as it was answered", different[:3])
        return len(missing)
