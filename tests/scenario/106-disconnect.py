import time

from wire import Client, done, eq, ok, wait_until

SLEEP = "import time\nprint('begun', flush=True)\ntime.sleep(4)\nprint('over')"


def latest(agent):
    watcher = Client()
    runs = watcher.call("runs.list", agent=agent)["runs"]
    watcher.close()
    return runs[0] if runs else None


client = Client()
client.send("run", language="python", code=SLEEP.replace("4", "40"), agent="leaver", limits={"wall_ms": 60000})
ok(wait_until(lambda: (latest("leaver") or {}).get("state") == "running"), "a run is on the record while it runs")
started = time.monotonic()
client.close()
ok(wait_until(lambda: (latest("leaver") or {}).get("outcome") == "canceled"), "its client leaves and it is cancelled")
ok(time.monotonic() - started < 20, "long before its end")
eq(latest("leaver")["reason"], "The run was cancelled because its client disconnected.", "and the record says why")

client = Client()
run_id = client.run(SLEEP, agent="detacher", detach=True)["run_id"]
client.close()
client = Client()
eq(client.call("wait", run_id=run_id, timeout_ms=100).get("state"), "running", "wait gives up when told to")
result = client.call("wait", run_id=run_id)
eq((result["outcome"], result["stdout"]), ("ok", "begun\nover\n"), "a detached run goes on and is waited for")
eq(client.call("wait", run_id=run_id)["outcome"], "ok", "and can be asked for again, from the store")

run_id = client.run(SLEEP, detach=True)["run_id"]
eq(client.call("cancel", run_id=run_id), {}, "cancel is answered")
result = client.call("wait", run_id=run_id)
eq(result["outcome"], "canceled", "and the run is cancelled")
eq(result["reason"], "The run was cancelled by its caller.", "by whom it was")

run_id = client.run(SLEEP, detach=True)["run_id"]
eq(client.call("wait", run_id="last", timeout_ms=100), {"run_id": run_id, "state": "running"}, "last is waited for while it runs")
eq(client.call("wait", run_id=run_id[:22].lower(), timeout_ms=100).get("state"), "running", "as is the beginning of an id, in small letters")
eq(client.call("cancel", run_id="last"), {}, "and last is cancelled")
eq(client.call("wait", run_id="last")["outcome"], "canceled", "as its result says")
error, result = client.receive(client.send("cancel", run_id="last"))
eq(error["code"], "not_found", "what has ended is not cancelled again")

big = client.run("import time; time.sleep(0.5); print('x' * 500000)", detach=True)["run_id"]
ok(wait_until(lambda: client.call("runs.get", run_id=big)["state"] == "ended"), "a detached run ends")
eq(len(client.call("wait", run_id=big)["stdout"]), 500001, "and what it printed is there for whoever comes later")

msgid = client.send("run", language="python", code="import time\nfor i in range(3): print(i, flush=True); time.sleep(0.2)", stream=True)
error, result = client.receive(msgid)
pieces = [params[0] for method, params in client.notices if method == "run.output"]
eq("".join(piece["data"] for piece in pieces), "0\n1\n2\n", "a streamed run sends what it prints")
ok(len(pieces) >= 3, "as it prints it")
eq([piece["offset"] for piece in pieces], [0, 2, 4][: len(pieces)], "with offsets")
eq(result["stdout"], "0\n1\n2\n", "and the result has all of it")
eq({piece["run_id"] for piece in pieces}, {result["run_id"]}, "under one run id")

many = [client.send("run", language="python", code=f"import time; time.sleep({0.3 - i / 20}); print({i})") for i in range(6)]
results = [client.receive(msgid)[1]["stdout"] for msgid in many]
eq(results, [f"{i}\n" for i in range(6)], "many requests in flight on one connection are all answered")
done()
