import os
import random
import time

from wire import Client, done, eq, ok, wait_until

SILENT = "import time\ntime.sleep(40)"
LONG = {"wall_ms": 60000}


def started(client):
    """Waits for a run.started notification.  Returns the params of all that came."""
    while not any(notice[0] == "run.started" for notice in client.notices):
        client.unpacker.feed(client.sock.recv(1 << 16))
        for message in client.unpacker:
            if message[0] == 1:
                client.replies[message[1]] = message[2:]
            else:
                client.notices.append(message[1:])
    return [notice[1][0] for notice in client.notices if notice[0] == "run.started"]


client = Client()
msgid = client.send("run", language="python", code=SILENT, limits=LONG, announce=True)
told = started(client)[0]
eq(told["msgid"], msgid, "a silent run is announced with the number of its message")
ok("id" not in told, "and without an id, since it has none")
eq(client.call("cancel", run_id=told["run_id"]), {}, "it is cancelled by the id that was announced")
error, result = client.receive(msgid)
eq((result["outcome"], result["run_id"]), ("canceled", told["run_id"]), "and its own answer says so")
client.close()

client = Client()
client.run("print(1)")
client.run("print(1)", stream=True)
eq([name for name, _ in client.notices], ["run.output"], "nobody is told who did not ask for it")

name = f"action-{os.getpid()}"
msgid = client.send("run", language="python", code=SILENT, limits=LONG, announce=True, id=name)
eq(started(client)[0]["id"], name, "an id of its caller's comes back")
other = Client()
joined = other.send("run", language="python", code=SILENT, limits=LONG, id=name)
wait = other.send("wait", id=name)
eq(Client().call("cancel", id=name), {}, "another connection of the same user cancels it by that id")
eq(client.receive(msgid)[1]["outcome"], "canceled", "the run ends")
eq(other.receive(joined)[1]["outcome"], "canceled", "with those that had joined it")
eq(other.receive(wait)[1]["outcome"], "canceled", "and those that waited for it")

msgid = client.send("run", language="python", code=SILENT, limits=LONG)
eq(client.call("cancel", msgid=msgid), {}, "what was just sent is cancelled by the number of its message")
eq(client.receive(msgid)[1]["outcome"], "canceled", "and is gone")

large = client.send("run", language="python", code=SILENT, limits=LONG, stdin="x" * 4_000_000)
eq(client.call("cancel", msgid=large), {}, "also when it was so large that a thread reads it")
eq(client.receive(large)[1]["outcome"], "canceled", "and it is gone, too")

run_id = client.run("print(7)", id=name + "-b", detach=True)["run_id"]
eq(client.call("wait", id=name + "-b")["run_id"], run_id, "a detached run is waited for by its id")
ok(wait_until(lambda: client.call("runs.get", run_id=run_id)["state"] == "ended"), "it ends")
eq(client.call("wait", id=name + "-b")["stdout"], "7\n", "and its result is found by it later")
repeat = client.run("print(7)", id=name + "-b", announce=True)
ok(repeat["cached"] and started(client)[-1]["run_id"] == repeat["run_id"] != run_id, "a repeat is announced as the run that it is")
error, _ = client.receive(client.send("run", language="python", code="1", announce=True, files=[{"path": "/"}]))
eq((error["code"], len(started(client))), ("bad_request", 2), "what the contract refuses is not announced")
denied = client.send("run", language="python", code="import ctypes", policy="strict", announce=True, id=name + "-c")
eq(client.receive(denied)[1]["outcome"], "policy_denied", "what the policy denies is")
eq(client.call("wait", id=name + "-c")["outcome"], "policy_denied", "and is found by its id although nothing was done")
replayed = client.call("runs.replay", run_id=run_id, announce=True)
eq(started(client)[-1]["run_id"], replayed["result"]["run_id"], "a replay is announced")

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def ulid(age_s=0):
    bits = int((time.time() - age_s) * 1000) << 80 | random.getrandbits(80)
    return "".join(DIGITS[bits >> shift & 31] for shift in range(125, -1, -5))


own = ulid()
result = client.run("print(8)", run_id=own, id=name + "-d")
eq((result["run_id"], result["outcome"]), (own, "ok"), "a run has the id that its caller gave it")
eq(client.call("wait", run_id=own)["stdout"], "8\n", "and is found by it")
error, _ = client.receive(client.send("run", language="python", code="print(9)", run_id=own))
eq((error["code"], error["data"]["pointer"]), ("conflict", "/run_id"), "another run does not get it")
for wrong, reason in ((own.lower(), "value"), ("8" + own[1:], "value"), (ulid(3600), "range"), (ulid(-3600), "range")):
    error, _ = client.receive(client.send("run", language="python", code="1", run_id=wrong))
    eq((error["code"], error["data"]["reason"]), ("bad_request", reason), f"{wrong} is not taken")
for padding in ("", "x" * 4_000_000):
    own = ulid()
    named = client.send("run", language="python", code=SILENT, limits=LONG, run_id=own, stdin=padding)
    waits = client.send("wait", run_id=own)
    eq(client.call("cancel", run_id=own), {}, f"a run is cancelled by its own run_id at once ({len(padding)} bytes of stdin)")
    eq([client.receive(sent)[1]["outcome"] for sent in (named, waits)], ["canceled"] * 2, "it and the wait for it end")
older = ulid(240)
eq(client.run("print(10)", run_id=older, announce=True)["run_id"], older, "an id may be some minutes old")
eq(started(client)[-1]["run_id"], older, "it is the one that is announced")
newest = client.run("print(11)")["run_id"]
listed = [run["run_id"] for run in client.call("runs.list", limit=1000)["runs"]]
ok(listed == sorted(listed, reverse=True) and {own, older, newest} <= set(listed), "all are listed, in the order of their ids")
eq(client.call("audit.verify")["problems"], [], "and the record holds together")
done()
