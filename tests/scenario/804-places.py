"""No failing epoll_ctl() ends more than the connection, or the worker, that it was for."""

import sys

from wire import Client, daemon_pid, done, eq, ok, wait_until

places, spawner = sys.argv[1], int(sys.argv[2])
TEXT = "# a comment\n" * 10_000


def gone(word):
    with open(places, "r+", encoding="ascii") as file:
        file.write("1" if word else "0")


def is_let_in():
    try:
        return Client(timeout=10).call("runtimes") is not None
    except (EOFError, OSError):
        return False
    except RuntimeError as error:
        if error.args[0]["code"] != "busy":
            raise
        return False


before = daemon_pid(spawner)
client = Client()
slow = Client()
eq(client.run("print('early')")["stdout"], "early\n", "a program runs")

gone(True)
eq([is_let_in() for _ in range(20)], [False] * 20, "nobody new is let in")
eq(client.run("print('late')")["stdout"], "late\n", "who was in before can use the worker that waits")
eq([client.call("check", language="python", code=f"print({n})")["policy"]["decision"] for n in range(20)], ["allow"] * 20,
   "and has programs checked")
# A thread reads a large message, and the loop does not watch its connection meanwhile.  Watching it again for
# the next message needs a new place in the epoll set, so the daemon may close this connection.
try:
    for n in range(5):
        slow.send("check", language="python", code=TEXT + str(n))
    told = slow.receive(5)[0] is None
except (EOFError, OSError):
    told = True
ok(told, "who sends large messages is answered or let go")
eq(client.call("check", language="python", code="print('still')")["policy"]["decision"], "allow", "and the others stay")
eq(daemon_pid(spawner), before, "the daemon is the same")

gone(False)
ok(wait_until(is_let_in), "when there are places again, people are let in")


def runs():
    try:
        return Client(timeout=20).run("print('again')")["outcome"] == "ok"
    except (EOFError, OSError, RuntimeError):
        return False


ok(wait_until(runs), "and programs run")
eq(daemon_pid(spawner), before, "by the same daemon")
done()
