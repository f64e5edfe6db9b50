import os
import socket
import subprocess
import sys
import time

from wire import Client, PATH, daemon_pid, done, eq, ok, rss_kib, wait_until

OTHER = 4001  # a user, not an administrator


def events(client, seconds=1.0):
    """Reads the client's notices until none has come for so long."""
    heard = []
    client.sock.settimeout(seconds)
    while True:
        for message in client.unpacker:
            if message[0] == 2 and message[1] == "event":
                heard.append(message[2][0])
        try:
            data = client.sock.recv(1 << 16)
        except TimeoutError:
            break
        if not data:
            break
        client.unpacker.feed(data)
    client.sock.settimeout(60)
    return heard


def kinds(heard):
    return [event["kind"] for event in heard]


watcher = Client()
eq(watcher.call("events.subscribe")["runs"], "all", "an administrator hears of everybody")
client = Client()
result = client.run("print('secret')", task="t1")
heard = events(watcher)
eq(kinds(heard), ["started", "finished"], "a run starts and ends")
ok(all(event["run_id"] == result["run_id"] and event["task"] == "t1" for event in heard), "it is this one", heard)
ok("secret" not in repr(heard), "what it printed is not in events", heard)
record = Client().call("runs.get", run_id=heard[0]["run_id"])
eq(record["outcome"], "ok", "and what was told is on the record")

client.run("1", detach=True)
eq(kinds(events(watcher)), ["started", "finished"], "so does a detached one")
client.run("import time\nprint(1, flush=True)\ntime.sleep(9)", stream=True, limits={"wall_ms": 200})
eq(kinds(events(watcher)), ["started", "limit", "finished"], "one that runs into a limit")
client.run("(")
eq(kinds(events(watcher)), ["started", "finished"], "one that is no program is told as what it is")
try:
    client.call("run", language="python", code="1", limitz={}, agent="ann", task="t")
except RuntimeError:
    pass
heard = events(watcher)
eq([(event["kind"], event["outcome"]) for event in heard], [("denied", "refused")], "a request that breaks the contract")
eq([(event.get("agent"), event.get("task")) for event in heard], [("ann", "t")], "is told with the agent and task that it named")
client.call("check", language="python", code="1")
client.call("runs.list")
eq(events(watcher, 0.3), [], "questions are no events")

# Many at once: each start is followed by its end.
many = [Client() for _ in range(4)]
asked = [(one, one.send("run", language="python", code="1")) for one in many for _ in range(25)]
ended = {one.receive(msgid)[1]["run_id"] for one, msgid in asked}
heard = events(watcher)
starts = [event["run_id"] for event in heard if event["kind"] == "started"]
ends = [event["run_id"] for event in heard if event["kind"] == "finished"]
eq((len(starts), set(starts) == set(ends) == ended), (100, True), "a hundred runs are told twice each")
order = {(event["kind"], event["run_id"]): at for at, event in enumerate(heard)}
ok(all(order["started", run] < order["finished", run] for run in ended), "first the start")

# A subscriber that does not read.
slow = Client()
slow.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
slow.call("events.subscribe", kinds=["finished", "denied"])
before = rss_kib(daemon_pid(int(os.environ["CED_SPAWNER"])))
began = time.monotonic()
count = 3000
for _ in range(count // 50):
    asked = [client.send("run", language="python", code="x", limitz={}, labels={"a": "b" * 100}) for _ in range(50)]
    for msgid in asked:
        client.receive(msgid)
took = time.monotonic() - began
ok(client.run("print(1)")["ok"], f"nobody waits for it: {count} refusals in {took:.1f} s")
grown = rss_kib(daemon_pid(int(os.environ["CED_SPAWNER"]))) - before
heard = events(slow)
missed = sum(event["count"] for event in heard if event["kind"] == "missed")
told = sum(event["kind"] != "missed" for event in heard)
ok(missed > 0, f"it missed {missed} events and heard {told}; the daemon grew by {grown} KiB", kinds(heard)[-3:])
eq(missed + told, count + 1, "and knows of each")
client.run("1")
eq(kinds(events(slow)), ["finished"], "then it hears again")

if os.getuid() == 0:
    os.chmod(os.path.dirname(PATH), 0o777)
    os.chmod(PATH, 0o666)
    events(watcher)
    code = """
import sys
sys.path.insert(0, sys.argv[1])
from wire import Client
client = Client()
print(client.call("events.subscribe")["runs"], flush=True)
sys.stdin.readline()
client.run("1", agent="mine")
client.sock.settimeout(1)
try:
    while True:
        client.receive(99999)
except TimeoutError:
    pass
print([(notice[1][0]["kind"], notice[1][0].get("uid")) for notice in client.notices])
"""
    other = subprocess.Popen([sys.executable, "-c", code, os.environ["CED_WIRE"]],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                             user=OTHER, group=OTHER, extra_groups=[])
    eq(other.stdout.readline().strip(), "own", "a user hears of its own runs")
    client.run("2")
    client.call("admin.drain", reason="x")
    client.call("admin.resume")
    told, _ = other.communicate("\n", timeout=30)
    eq(told.strip(), repr([("started", OTHER), ("finished", OTHER)]), "and of nobody else's, nor of admin operations")
    eq(sum(event.get("uid") == OTHER for event in events(watcher)), 2, "the administrator heard them too")

gone = [Client() for _ in range(8)]
for one in gone:
    one.call("events.subscribe")
for one in gone:
    one.close()
client.run("1")
ok(wait_until(lambda: client.call("admin.status")["subscriptions"] <= 2), "subscriptions go with their connections")
done()
