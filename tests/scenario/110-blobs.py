import hashlib
import os
import sys
import time

from wire import Client, done, eq, ok

root = Client()
COUNT = "import os; print(sum(os.path.getsize(name) for name in ('a', 'b/c', 'd') if os.path.exists(name)))"


def name_of(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def code_of(method, client=root, **params):
    error, result = client.receive(client.send(method, **params))
    return (error["code"], (error.get("data") or {}).get("pointer"), (error.get("data") or {}).get("reason")) if error else result


def used():
    data = os.urandom(3000000)
    eq(root.call("blob.put", data=data), {"sha256": name_of(data), "bytes": len(data), "complete": True}, "sent")
    eq(root.call("blob.put", data=data, sha256=name_of(data))["complete"], True, "sent again")
    for _ in range(3):
        result = root.run(COUNT, files=[{"path": "a", "blob": name_of(data)}, {"path": "b/c", "data": b"12"},
                                        {"path": "d", "blob": name_of(data), "mode": 0o600}])
        eq(result["stdout"], f"{2 * len(data) + 2}\n", "used")
    inline = root.run(COUNT, files=[{"path": "a", "data": data}])
    result = root.run(COUNT, files=[{"path": "a", "blob": name_of(data)}])
    eq((result["stdout"], result["input_hash"]), (inline["stdout"], inline["input_hash"]), "the same as if it had come along")
    record = root.call("runs.get", run_id=result["run_id"])
    eq(record["request"]["files"][0]["bytes"], len(data), "recorded as the file that it was")
    told = [root.run(COUNT, id="by blob", files=[{"path": "a", **how}]) for how in ({"blob": name_of(data)}, {"data": data})]
    eq(told[1]["cached_from"], told[0]["run_id"], "and the same action")
    page = root.call("blob.get", sha256=name_of(data), offset=1000, length=50)
    eq((page["data"], page["total"], page["eof"]), (data[1000:1050], len(data), False), "and had back")
    eq(root.call("blob.put", data="")["bytes"], 0, "nothing is a content, too")
    eq(root.run("print(len(open('a').read()))", files=[{"path": "a", "blob": name_of(b"")}])["stdout"], "0\n", "and a file")
    eq(root.run("import a", files=[{"path": "a.py", "blob": root.call("blob.put", data="import socket\n")["sha256"]}],
                policy="strict")["outcome"], "policy_denied", "a program among them is read by the policy")
    checked = root.call("check", language="python", code="1", files=[{"path": "a", "blob": name_of(b"none")}])
    eq((checked["would"], checked["contract"]["pointer"], checked["contract"]["reason"]), ("refuse", "/files/0/blob", "blob"),
       "check says what is missing")


def parts():
    data = os.urandom(1000000)
    at = 0
    for size in 300000, 0, 400000, 300000:
        told = root.call("blob.put", sha256=name_of(data), offset=at, total=len(data), data=data[at:at + size])
        at += size
        eq((told["bytes"], told["complete"]), (at, at == len(data)), f"{at} bytes")
    eq(root.call("blob.get", sha256=name_of(data), length=len(data))["data"], data, "all of it")
    eq(root.call("blob.put", sha256=name_of(data), offset=5, total=len(data), data=b"x")["complete"], True, "what is whole stays")
    other = os.urandom(1000)
    eq(code_of("blob.put", sha256=name_of(other), offset=10, total=1000, data=b"x"), ("bad_request", "/offset", "range"), "no beginning")
    root.call("blob.put", sha256=name_of(other), offset=0, total=1000, data=other[:10])
    eq(code_of("blob.put", sha256=name_of(other), offset=11, total=1000, data=b"x"), ("bad_request", "/offset", "range"), "a gap")
    eq(code_of("blob.put", sha256=name_of(other), offset=10, total=1001, data=b"x"), ("bad_request", "/offset", "range"), "another total")
    eq(code_of("blob.get", sha256=name_of(other))[0], "not_found", "a part is not there")
    eq(code_of("run", language="python", code="1", files=[{"path": "a", "blob": name_of(other)}]),
       ("bad_request", "/files/0/blob", "blob"), "and no file")
    eq(code_of("blob.put", sha256=name_of(other), offset=10, total=1000, data=b"x" * 990), ("bad_request", "/sha256", "value"), "something else")
    eq(code_of("blob.put", sha256=name_of(other), data=b"x"), ("bad_request", "/sha256", "value"), "in one piece")
    eq(root.call("blob.put", data=other, sha256=name_of(other))["complete"], True, "and what is right")
    poisoned = os.urandom(1000)
    root.call("blob.put", sha256=name_of(poisoned), offset=0, total=1000, data=b"x" * 999)
    eq(root.call("blob.put", data=poisoned)["complete"], True, "what comes whole does not trust the parts that are there")
    eq(root.call("blob.get", sha256=name_of(poisoned), length=1000)["data"], poisoned, "and is what its name says")


def bounds():
    eq(code_of("blob.put", data=b"x" * 10, total=17 << 20, sha256=name_of(b"")), ("bad_request", "/total", "too_long"), "too large")
    eq(code_of("blob.put", data=b"x" * 10, total=5, sha256=name_of(b"")), ("bad_request", "/data", "range"), "past its total")
    eq(code_of("blob.put", data=b"x", offset=3, total=5), ("bad_request", "/sha256", "missing"), "a part without a name")
    eq(code_of("blob.put", data=b"x", offset=2 ** 64 - 1, total=3, sha256=name_of(b""))[0], "bad_request", "numbers that wrap")
    eq(code_of("blob.put", data=b"x", offset=2 ** 64 - 1, sha256=name_of(b""))[0], "bad_request", "or would")
    first = os.urandom(8 << 20)
    names = [root.call("blob.put", data=data)["sha256"] for data in [first] + [os.urandom(8 << 20) for _ in range(8)]]
    eq(code_of("blob.get", sha256=names[0])[0], "not_found", "what was not used for longest makes room")
    ok(isinstance(code_of("blob.get", sha256=names[-1], length=1), dict), "for the newest")
    many = [root.call("blob.put", data=f"{number}")["sha256"] for number in range(1100)]
    eq(code_of("blob.get", sha256=many[0])[0], "not_found", "nor are there more than a thousand")
    # A blob that runs use stays until they have ended, however many others arrive meanwhile.
    data = os.urandom(8 << 20)
    busy = Client()
    sent = busy.call("blob.put", data=data)["sha256"]
    asked = [busy.send("run", language="python", code="import time, hashlib; time.sleep(0.5); print(hashlib.sha256(open('a','rb').read()).hexdigest())",
                       files=[{"path": "a", "blob": sent}], limits={"wall_ms": 60000}) for _ in range(4)]
    for _ in range(9):
        root.call("blob.put", data=os.urandom(8 << 20))
    eq({busy.receive(msgid)[1]["stdout"].strip() for msgid in asked}, {sent[7:]}, "what is used stays")
    ok(root.call("admin.status")["held_bytes"] < 80 << 20, "and all of it counts", root.call("admin.status")["held_bytes"])


def stranger():
    eq(code_of("blob.get", sha256=name_of(b""))[0], "not_found", "not to be had")
    eq(code_of("run", language="python", code="1", files=[{"path": "a", "blob": name_of(b"")}])[:2],
       ("bad_request", "/files/0/blob"), "nor used")


def forgotten():
    sent = root.call("blob.put", data="once")["sha256"]
    time.sleep(2.5)
    eq(code_of("blob.get", sha256=sent)[0], "not_found", "what nobody used is forgotten")


globals()[sys.argv[1]]()
done()
