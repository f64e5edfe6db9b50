"""Clients that run programs until the test stops them, and keep their answers."""

import collections
import threading
import time

from wire import Client


class Load:
    """`clients` threads; each sends the next program when it has the answer to the last one."""

    def __init__(self, clients=8):
        self.answered = []  # (run_id, stdout), in the order of the answers
        self.refused = collections.Counter()  # (code, data.reason)
        self.odd = []  # any other failure
        self.last_id = {}
        self.unordered = 0
        self.lock = threading.Lock()
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(i,)) for i in range(clients)]
        for thread in self.threads:
            thread.start()

    def work(self, number):
        client = Client(timeout=30)
        count = 0
        while not self.stop.is_set():
            count += 1
            text = f"{number}-{count}"
            try:
                error, result = client.receive(client.send(
                    "run", language="python", code=f"print('{text}')"))
            except Exception as broken:  # a broken connection is unexpected
                self.odd.append(repr(broken))
                return
            with self.lock:
                self.note(number, text, error, result)
            if error:
                time.sleep(0.02)
        client.close()

    def note(self, number, text, error, result):
        if error:
            self.refused[error["code"], (error.get("data") or {}).get("reason")] += 1
        elif result["outcome"] != "ok" or result["stdout"] != text + "\n":
            self.odd.append(result)
        else:
            if result["run_id"] < self.last_id.get(number, ""):
                self.unordered += 1
            self.last_id[number] = result["run_id"]
            self.answered.append((result["run_id"], result["stdout"]))

    def finish(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(60)

    def more(self, count, seconds=120):
        """Waits until so many more are answered.  Returns the time it took, or None."""
        begun = time.monotonic()
        wanted = len(self.answered) + count
        while time.monotonic() < begun + seconds:
            if len(self.answered) >= wanted:
                return time.monotonic() - begun
            time.sleep(0.005)
        return None

    def refusals(self, code, reason):
        return self.refused[code, reason]

    def missing(self, client):
        """Answered runs that the store lacks or has with another content."""
        lost = []
        for run_id, text in self.answered:
            error, record = client.receive(client.send("runs.get", run_id=run_id))
            if error or record["outcome"] != "ok" or record["stdout"] != text:
                lost.append((run_id, error))
        return lost
