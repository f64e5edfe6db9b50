import json
import os
import sys
import time

from wire import Client, done, eq, ok, wait_until

HOG, SECOND, THIRD, FOURTH, FIFTH, SIXTH = range(61001, 61007)
SLEEP = "import time\ntime.sleep(600)"


class Other:
    """A process of another uid that executes commands and sends back the results."""

    def __init__(self, uid):
        self.ours, theirs = os.pipe()
        told, self.tell = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(theirs)
            os.close(told)
            self.answers = os.fdopen(self.ours)
            return
        os.close(self.ours)
        os.close(self.tell)
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        try:
            self.serve(os.fdopen(told), os.fdopen(theirs, "w"))
        finally:
            os._exit(0)

    def serve(self, orders, answers):
        clients = []
        for line in orders:
            order, *numbers = json.loads(line)
            try:
                answer = getattr(self, order)(clients, *numbers)
            except Exception as error:  # any exception is a result
                answer = repr(error)
            print(json.dumps(answer), file=answers, flush=True)

    @staticmethod
    def start(clients, count, code):
        """Sends runs and does not wait for them."""
        clients.append(Client())
        for _ in range(count):
            clients[-1].send("run", language="python", code=code, limits={"wall_ms": 600000})
        return count

    @staticmethod
    def ends(clients, count):
        """The results of the first `count` runs that end, in the order of their ends."""
        client = clients[-1]
        found = []
        client.sock.settimeout(30)
        while len(found) < count:
            for msgid in list(client.replies):
                error, result = client.replies.pop(msgid)
                found.append([error["code"]] if error else [result["outcome"], result["ran"], result["reason"]])
            if len(found) >= count:
                break
            try:
                client.receive_some()
            except TimeoutError:
                break
        return found

    @staticmethod
    def run(clients):
        client = Client()
        began = time.monotonic()
        result = client.run("print(1)")
        client.close()
        return [result["outcome"], time.monotonic() - began]

    @staticmethod
    def connect(clients, count, first=b""):
        for _ in range(count):
            clients.append(Client())
            clients[-1].sock.sendall(first.encode("latin-1") if first else b"")
        return len(clients)

    @staticmethod
    def closed(clients):
        """How many of its connections have been closed."""
        count = 0
        for client in clients:
            client.sock.setblocking(False)
            try:
                count += client.sock.recv(1) == b""
            except BlockingIOError:
                pass
            except OSError:
                count += 1
        return count

    @staticmethod
    def leave(clients):
        for client in clients:
            client.close()
        clients.clear()
        return 0

    def ask(self, *order):
        os.write(self.tell, json.dumps(order).encode() + b"\n")
        return json.loads(self.answers.readline() or "null")


def receive_some(self):
    data = self.sock.recv(1 << 16)
    if not data:
        raise EOFError("the daemon closed the connection")
    self.unpacker.feed(data)
    for message in self.unpacker:
        if message[0] == 1:
            self.replies[message[1]] = message[2:]


Client.receive_some = receive_some
others = {uid: Other(uid) for uid in (HOG, SECOND, THIRD, FOURTH, FIFTH, SIXTH)}
admin = Client()


def python():
    return next(row for row in admin.call("runtimes")["runtimes"] if row["name"] == "python")


def status():
    return admin.call("admin.status")


def others_leave(uids, words):
    for uid in uids:
        others[uid].ask("leave")
    ok(wait_until(lambda: python()["running"] == 0 and status()["queued"] == 0), words)


def workers():
    # Long runs of one user take every worker outside the reserve.
    others[HOG].ask("start", 5, SLEEP)
    ok(wait_until(lambda: python()["running"] == 4), "one user has all workers that are common", python())
    for uid in (SECOND, THIRD):
        answer = others[uid].ask("run")
        eq(answer[0] if isinstance(answer, list) else answer, "ok", f"and uid {uid} still gets one")
    eq(python()["running"], 4, "while the first one's go on")
    eq([end[:2] for end in others[HOG].ask("ends", 1)], [["busy", "no"]], "its fifth run is told that all were busy")

    # Three more users take the reserve, except the worker kept for administrators.
    for uid in (SECOND, THIRD, FOURTH):
        others[uid].ask("start", 1, SLEEP)
    ok(wait_until(lambda: python()["running"] == 7), "three users more have one worker each", python())
    others[FIFTH].ask("start", 1, "print(1)")
    eq(admin.run("print(2)")["outcome"], "ok", "an administrator gets the last one")
    eq([end[:2] for end in others[FIFTH].ask("ends", 1)], [["busy", "no"]], "a fifth user is told that all were busy")
    row = admin.call("runs.list", outcome="busy", limit=10)["runs"]
    eq(len(row), 2, "both are on the record under that word")
    others_leave((HOG, SECOND, THIRD, FOURTH, FIFTH), "all leave")


def queue():
    # Two users fill the queue, once all workers that they can have are busy.
    for uid, count, running in ((HOG, 4, 4), (SECOND, 1, 5)):
        others[uid].ask("start", count, SLEEP)
        ok(wait_until(lambda running=running: python()["running"] == running), f"{running} runs have workers", python())
    for uid in (HOG, SECOND):
        others[uid].ask("start", 16, SLEEP)
    ok(wait_until(lambda: status()["queued"] >= 23), "two users fill the queue", status()["queued"])
    eq(others[THIRD].ask("run")[0], "ok", "and a third one's run takes a place in it")
    others[THIRD].ask("start", 3, SLEEP)
    eq(admin.run("print(3)")["outcome"], "ok", "as does an administrator's")
    ends = others[HOG].ask("ends", 4)
    ok({end[0] for end in ends} <= {"busy"} and len(ends) >= 4, "those that had to leave are told that it was busy", ends)
    others_leave((HOG, SECOND, THIRD), "all leave once more")

    # Two users take all connections outside the reserve: first idle ones, then ones with an unfinished message.
    for uid in (HOG, SECOND):
        others[uid].ask("connect", 6)
    eq(others[THIRD].ask("connect", 3), 3, "a third user's connections are let in")
    eq(others[THIRD].ask("run")[0], "ok", "and served")
    eq(others[THIRD].ask("closed"), 0, "it keeps what it has")
    gone = others[HOG].ask("closed") + others[SECOND].ask("closed")
    ok(3 <= gone <= 6, f"{gone} idle ones of those who had most were closed")
    for uid in (HOG, SECOND, THIRD):
        others[uid].ask("leave")
    ok(wait_until(lambda: status()["connections"] == 1), "all leave", status().get("connections"))
    for uid in (HOG, SECOND):
        others[uid].ask("connect", 6, "\x94")
    status()  # the daemon has read the others before this
    eq(others[THIRD].ask("run")[0], "ok", "where none is idle, a third user still gets in")
    gone = others[HOG].ask("closed") + others[SECOND].ask("closed")
    eq(gone, 0, "and what is under way is left alone")


{"workers": workers, "queue": queue}[sys.argv[1]]()
done()
