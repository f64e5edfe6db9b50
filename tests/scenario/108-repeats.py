import json
import random
import re
import sys
import threading
import time

from wire import Client, done, eq, ok, wait_until

RANDOM = "import os; print(os.urandom(8).hex())"
SLOW = "import os, time; time.sleep(%s); print(os.urandom(8).hex())"
root = Client()


def code_of(client, msgid):
    error, result = client.receive(msgid)
    return (error["code"], error.get("data") or {}) if error else ("answered", result)


def runs_of(name):
    """The runs with this id whose program really ran: neither from the cache nor refused."""
    return [run for run in root.call("runs.list", limit=1000)["runs"]
            if run["id"] == name and not run["cached_from"] and run["outcome"] not in ("refused", "canceled")]


def once():
    first = root.run(RANDOM, id="once", labels={"a": "b"}, args=["x"], env={"A": "B"}, stdin="y",
                     files=[{"path": "f", "data": b"\xff"}], limits={"wall_ms": 4000})
    eq((first["cached"], "cached_from" in first), (False, False), "the first one ran")
    for how in {}, {"stream": True}, {"trace": "off"}, {"cache": "refresh"}:
        again = root.run(RANDOM, id="once", labels={"a": "b"}, args=["x"], env={"A": "B"}, stdin=b"y",
                         files=[{"path": "f", "data": b"\xff", "mode": 0o644}], limits={"wall_ms": 4000}, **how)
        eq((again["stdout"], again["cached"], again["cached_from"], again["outcome"], again["exit_code"]),
           (first["stdout"], True, first["run_id"], "ok", 0), f"told again, with {how}")
        ok(again["run_id"] != first["run_id"], "in a record of its own")
        eq(root.call("runs.get", run_id=again["run_id"])["cached_from"], first["run_id"], "which says so")
    eq([notice[1][0]["data"] for notice in root.notices], [first["stdout"]], "streamed as if it ran")
    detached = root.run(RANDOM, id="once", labels={"a": "b"}, args=["x"], env={"A": "B"}, stdin="y",
                        files=[{"path": "f", "data": b"\xff"}], limits={"wall_ms": 4000}, detach=True)
    eq(root.call("wait", run_id=detached["run_id"])["stdout"], first["stdout"], "and detached")
    eq(len(runs_of("once")), 1, "one run in all")
    for name, code in {"exit": "import sys; sys.exit(3)", "error": "1/0", "syntax": "x = (",
                       "limit": "while True: pass", "killed": "import os; os.kill(os.getpid(), 9)"}.items():
        told = [root.run(code, id=name, limits={"cpu_ms": 100}) for _ in range(2)]
        keys = "outcome", "ran", "exit_code", "signal", "error", "evidence", "stderr", "truncated", "limits", "reason"
        eq([told[1].get(key) for key in keys], [told[0].get(key) for key in keys], f"{name}: the same, told again")
        eq(told[1]["cached_from"], told[0]["run_id"], f"{name}: from the first")
    told = [root.run("open('a.bin', 'wb').write(b'\\xff' * 70000); print('{\"a\": 1}')", id="much", artifacts=["*"],
                     output="json", schema={"type": "object"}) for _ in range(2)]
    eq([told[1].get(key) for key in ("value", "artifacts", "artifacts_skipped", "policy", "runtime")],
       [told[0].get(key) for key in ("value", "artifacts", "artifacts_skipped", "policy", "runtime")],
       "with its value, files and verdict")
    told = [root.run("print('x' * 3000000)", id="long", on_output_limit="truncate", limits={"stdout_bytes": 100001})
            for _ in range(2)]
    eq([told[1].get(key) for key in ("stdout", "stdout_tail", "stdout_bytes", "truncated")],
       [told[0].get(key) for key in ("stdout", "stdout_tail", "stdout_bytes", "truncated")], "cut as it was")


def conflicts():
    plain = {"language": "python", "code": RANDOM, "id": "mine"}
    first = root.call("run", **plain)
    for change in ({"code": RANDOM + " "}, {"entrypoint": "x.py"}, {"args": ["1"]}, {"stdin": "1"}, {"input": 1},
                   {"files": [{"path": "a", "data": ""}]}, {"env": {"A": "1"}}, {"limits": {"wall_ms": 5000}},
                   {"on_output_limit": "truncate"}, {"artifacts": ["*"]}, {"policy": "standard"}, {"output": "json"},
                   {"schema": {}}, {"task": "t"}, {"agent": "a"}, {"labels": {"a": "b"}}, {"language": "bash"}):
        code, data = code_of(root, root.send("run", **{**plain, **change}))
        eq((code, data.get("pointer"), data.get("reason"), data.get("other_run_id")),
           ("conflict", "/id", "conflict", first["run_id"]), f"other {list(change)[0]}")
        record = root.call("runs.get", run_id=data["run_id"])
        eq((record["outcome"], record["ran"], record["caller"]["pid"] > 0), ("refused", "no", True), "and is recorded")
    eq(root.call("run", **plain)["cached_from"], first["run_id"], "the first one stands")


def joins():
    others = [Client() for _ in range(5)]
    asked = [(client, client.send("run", language="python", code=SLOW % 0.6, id="joint")) for client in others]
    answers = [client.receive(msgid)[1] for client, msgid in asked]
    eq(len({answer["stdout"] for answer in answers}), 1, "five at once, one result")
    eq(sorted(answer["cached"] for answer in answers), [False] + [True] * 4, "one ran, four waited for it")
    eq(len(runs_of("joint")), 1, "and one run")
    # Other programs under the same id, sent while the daemon looks for the first one or runs it.
    asked = [(client, client.send("run", language="python", code=SLOW % 0.3 + f"\n# {number}", id="disjoint"))
             for number, client in enumerate(others)]
    answers = [code_of(client, msgid)[0] for client, msgid in asked]
    eq(sorted(answers), ["answered"] + ["conflict"] * 4, "five different ones, one runs")
    # All of them detached: each gets its own run id at once.
    ids = [client.run(SLOW % 0.5, id="apart", detach=True)["run_id"] for client in others]
    eq(len(set(ids)), 5, "each has its own run id")
    for client in others:
        client.close()
    told = [root.call("wait", run_id=run_id)["stdout"] for run_id in ids]
    eq(len(set(told)), 1, "and the same result")
    eq(len(runs_of("apart")), 1, "of one run")


def leaves():
    first, second = Client(), Client()
    asked = first.send("run", language="python", code=SLOW % 0.5, id="left by the second")
    time.sleep(0.1)
    second.send("run", language="python", code=SLOW % 0.5, id="left by the second")
    time.sleep(0.1)
    second.close()
    eq(first.receive(asked)[1]["outcome"], "ok", "who waits and leaves takes nothing along")
    second = Client()
    first.send("run", language="python", code=SLOW % 0.6, id="left by the first")
    time.sleep(0.1)
    asked = second.send("run", language="python", code=SLOW % 0.6, id="left by the first")
    time.sleep(0.2)
    first.close()
    eq(second.receive(asked)[1]["outcome"], "ok", "nor does who came first, while others wait")
    eq([run["outcome"] for run in runs_of("left by the first")], ["ok"], "its run is recorded as it ended")
    first = Client()
    first.send("run", language="python", code=SLOW % 20, id="left by both", limits={"wall_ms": 30000})
    time.sleep(0.1)
    second.send("run", language="python", code=SLOW % 20, id="left by both", limits={"wall_ms": 30000})
    time.sleep(0.2)
    first.close()
    time.sleep(0.2)
    eq(root.call("admin.status")["in_progress"], 2, "it goes on")
    second.close()
    wait_until(lambda: root.call("admin.status")["in_progress"] == 0)
    eq(root.call("admin.status")["in_progress"], 0, "until the last one leaves")
    again = root.run(SLOW % 20, id="left by both", limits={"wall_ms": 30000})
    eq((again["outcome"], again["ran"]), ("canceled", "yes"), "and what has run is not run again")


def cancels():
    first, second = Client(), Client()
    leader = first.run(SLOW % 1, id="kept", detach=True)["run_id"]
    joined = second.run(SLOW % 1, id="kept", detach=True)["run_id"]
    root.call("cancel", run_id=joined)
    eq((root.call("wait", run_id=joined)["outcome"], root.call("wait", run_id=leader)["outcome"]), ("canceled", "ok"),
       "who waits cancels only himself")
    leader = first.run(SLOW % 20, id="killed for all", detach=True, limits={"wall_ms": 30000})["run_id"]
    joined = second.run(SLOW % 20, id="killed for all", detach=True, limits={"wall_ms": 30000})["run_id"]
    wait_until(lambda: root.call("stats")["running"] == 2)
    time.sleep(0.3)
    root.call("cancel", run_id=leader)
    told = root.call("wait", run_id=joined)
    eq((told["outcome"], told["cached_from"]), ("canceled", leader), "what is cancelled by its id is killed for all")
    asked = [(client, client.send("run", language="python", code=SLOW % 20, id="all", limits={"wall_ms": 30000}))
             for client in (first, second, Client(), Client())]
    time.sleep(0.4)
    began = time.monotonic()
    root.call("admin.kill_all")
    eq({client.receive(msgid)[1]["outcome"] for client, msgid in asked}, {"canceled"}, "kill_all kills all that wait")
    ok(time.monotonic() - began < 15, "long before its end")
    eq(root.call("admin.resume")["in_progress"], 0, "nothing is left")


def free():
    """A request that has not run does not use up its id."""
    denied = [root.run("import socket\nprint(1)", id="denied", policy="strict") for _ in range(2)]
    eq([(told["outcome"], told["cached"]) for told in denied], [("policy_denied", False)] * 2, "denied, twice")
    eq(root.run("print(1)", id="denied", policy="strict")["outcome"], "ok", "and mended under the same id")
    code, _ = code_of(root, root.send("run", language="python", code=1, id="refused"))
    eq((code, root.run("print(1)", id="refused")["outcome"]), ("bad_request", "ok"), "so does what was refused")
    # All workers are busy: a waiting run whose client disconnects has not run.
    busy = [Client() for _ in range(64)]
    for client in busy:
        client.send("run", language="python", code=SLOW % 20, limits={"wall_ms": 30000})
    time.sleep(0.5)
    first, second = Client(), Client()
    first.send("run", language="python", code=RANDOM, id="queued")
    time.sleep(0.3)
    asked = second.send("run", language="python", code=RANDOM, id="queued")
    mine = [run["run_id"] for run in root.call("runs.list", outcome="running", limit=200)["runs"] if run["id"] == "queued"]
    root.call("cancel", run_id=mine[0])
    eq(first.receive(1)[1]["ran"], "no", "cancelled before it began")
    for client in busy:
        client.close()
    told = second.receive(asked)[1]
    eq((told["outcome"], told["cached"]), ("ok", False), "who waited for it does it instead")


def storm():
    """Many clients with few ids connect, leave and cancel: each id runs at most once."""
    ids = [f"storm {number}" for number in range(12)]
    wrong = []

    def one(number):
        dice = random.Random(number)
        for _ in range(12):
            client = Client()
            name = dice.choice(ids)
            code = SLOW % 0.05 + (f"\n# {dice.random()}" if dice.random() < 0.1 else "")
            msgid = client.send("run", language="python", code=code, id=name, detach=dice.random() < 0.2)
            fate = dice.random()
            if fate < 0.25:
                time.sleep(dice.random() * 0.05)
                client.close()
                continue
            answer, result = code_of(client, msgid)
            if answer == "answered" and "outcome" not in result and fate < 0.5:
                client.receive(client.send("cancel", run_id=result["run_id"]))
            elif answer not in ("answered", "conflict"):
                wrong.append((answer, result))
            client.close()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    eq(wrong, [], "nothing but answers and conflicts")
    wait_until(lambda: root.call("admin.status")["in_progress"] == 0)
    eq(root.call("admin.status")["in_progress"], 0, "nothing is left")
    page = [run for run in root.call("runs.list", limit=1000)["runs"] if run["id"] in ids]
    did = {}
    for run in page:
        record = root.call("runs.get", run_id=run["run_id"])
        if record["ran"] != "no" and not record["cached"]:
            did.setdefault(run["id"], []).append(run["run_id"])
    ok(all(len(runs) == 1 for runs in did.values()), "each id ran once at most", did)
    ok(len(did) >= 8, f"and {len(did)} of them did")
    ok(sum(run["cached_from"] is not None for run in page) > 10, "many were told again")


def watched(pid):
    """Whether it has a sanitizer, which takes many times the memory; only root may look."""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
            return re.search("lib[at]san", file.read())
    except PermissionError:
        return None


def many():
    """The store returns many large records at once.  Each counts against its caller until it has been sent."""
    code = "open('a', 'wb').write(b'x' * 20000000); print('x' * 10000000)"
    asks = {"artifacts": ["*"], "limits": {"stdout_bytes": 16 << 20, "artifact_bytes": 60 << 20}, "id": "many"}
    first = root.run(code, **asks)
    answers = []

    def one():
        client = Client()
        try:
            answers.append(code_of(client, client.send("run", language="python", code=code, **asks)))
        except EOFError:
            answers.append(("closed", None))  # it had read less of its pending output than the others
        client.close()

    threads = [threading.Thread(target=one) for _ in range(48)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = [result for answer, result in answers if answer == "answered"]
    ok(len(told) >= 1 and {answer for answer, _ in answers} <= {"answered", "busy", "closed"},
       "answered, or told to come back", [answer for answer, _ in answers])
    eq({(result["stdout_bytes"], result["artifacts"][0]["sha256"], result["cached_from"]) for result in told},
       {(10000001, first["artifacts"][0]["sha256"], first["run_id"])}, f"{len(told)} of {len(answers)} were answered")
    ok(all(result["retry_after_ms"] > 0 for answer, result in answers if answer == "busy"), "and when")
    wait_until(lambda: root.call("admin.status")["held_bytes"] < 200000)
    ok(root.call("admin.status")["held_bytes"] < 200000, "all is given back", root.call("admin.status")["held_bytes"])
    with open(f"/proc/{root.call('admin.status')['pid']}/status", encoding="utf-8") as file:
        most = int(next(line for line in file if line.startswith("VmHWM")).split()[1]) >> 10
    ok(most < 2048 or watched(root.call("admin.status")["pid"]), f"it took {most} MiB at the most")


def under_way(path, seed):
    """Sends requests until the daemon dies, and notes each request and answer."""
    noted = {"asked": [], "answered": {}}

    def one(number):
        client = Client()
        for count in range(1000):
            name = f"{seed} {number} {count}"
            noted["asked"].append(name)
            try:
                noted["answered"][name] = client.run(SLOW % 0.01, id=name, detach=False)["stdout"]
                print("answered", flush=True)
            except (OSError, EOFError):
                return

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open(path, "w", encoding="utf-8") as file:
        json.dump(noted, file)
    sys.exit()


def afterwards(path):
    with open(path, encoding="utf-8") as file:
        noted = json.load(file)
    ends = {}
    wrong = []
    for name in noted["asked"]:
        told = root.run(SLOW % 0.01, id=name)
        again = root.run(SLOW % 0.01, id=name)
        ends.setdefault((told["outcome"], told["cached"]), []).append(name)
        if name in noted["answered"] and told["stdout"] != noted["answered"][name]:
            wrong.append(name)
        if (again["stdout"], again["outcome"]) != (told["stdout"], told["outcome"]) or not again["cached"]:
            wrong.append(name)
    eq(wrong, [], f"{len(noted['answered'])} were answered, and are told again")
    told = {f"{outcome}, {'known' if known else 'done now'}": len(names) for (outcome, known), names in ends.items()}
    ok({outcome for outcome, _ in ends} <= {"ok", "lost", "canceled", "sandbox_error"}, f"of {len(noted['asked'])}: {told}")


def ends(seconds):
    """Four requests wait for one run, and the daemon gets a signal to end."""
    clients = [Client() for _ in range(4)]
    asked = [(client, client.send("run", language="python", code=SLOW % seconds, id=f"end {seconds}",
                                  limits={"wall_ms": 50000})) for client in clients]
    print("asked", flush=True)
    answers = [client.receive(msgid)[1] for client, msgid in asked]
    outcomes = [answer["outcome"] for answer in answers]
    ok(outcomes in (["ok"] * 4, ["canceled"] * 4), "all are told the same", outcomes)
    ok(outcomes[0] == "canceled" or sum(not answer["cached"] for answer in answers) == 1, "of one run")


def stranger():
    told = root.run(RANDOM, id="once")
    eq((told["outcome"], told["cached"]), ("ok", False), "an id belongs to its user")


globals()[sys.argv[1]](*sys.argv[2:])
done()
