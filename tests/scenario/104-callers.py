import sys

from wire import Client, done, eq

stranger, running = sys.argv[1:]
client = Client()


def code_of(method, **params):
    error, result = client.receive(client.send(method, **params))
    return error["code"] if error else f"answered: {result}"


eq(client.call("hello")["you"], {"uid": 4002, "role": "user", "roles": ["user"]}, "the daemon knows who asks")
for run_id in stranger, running, stranger[:12], running.lower(), "last", "last~1":
    for method in "runs.get", "wait", "cancel":
        eq(code_of(method, run_id=run_id), "not_found", f"{method} of {run_id}")
for stream in "stdout", "code", "artifact:a.txt":
    eq(code_of("runs.output", run_id=stranger, stream=stream), "not_found", f"its {stream}")
for query in {}, {"uid": 4001}, {"agent": "shared"}, {"outcome": "running"}, {"before": running}:
    eq(client.call("runs.list", **query)["runs"], [], f"a list of {query}")
    query.pop("before", None)
    eq(client.call("stats", **query)["runs"], 0, f"a count of {query}")
eq(client.call("stats")["running"], 0, "what runs is not counted either")
eq(code_of("admin.status"), "forbidden", "the state of the daemon is not for everybody")
mine = client.run("print(1)", id="mine", agent="shared")["run_id"]
eq(client.call("runs.get", run_id="last")["run_id"], mine, "last is the caller's own")
eq([run["run_id"] for run in client.call("runs.list")["runs"]], [mine], "as is its list")
done()
