import sys
import time

from wire import Client, done, eq, ok

RANDOM = "import os; print(os.urandom(8).hex())"
root = Client()


def use(code=RANDOM, **params):
    return root.run(code, **{"cache": "use", **params})


def hit(result):
    return result["cached"]


def workers():
    return sum(runtime["runs"] for runtime in root.call("runtimes")["runtimes"])


def hits():
    first = use()
    before = workers()
    second = use()
    eq((second["stdout"], second["cached_from"]), (first["stdout"], first["run_id"]), "told again")
    eq(workers(), before, "without a worker")
    eq((second["outcome"], second["ran"], second["exit_code"]), ("ok", "yes", 0), "as it ended")
    eq((second["metrics"]["exec_us"], second["metrics"]["start_us"], second["metrics"]["warm"]), (0, 0, False),
       "its times are its own")
    ok(second["policy"]["decision"] in ("allow", "observe"), "and its verdict")
    eq([step["step"] for step in second["trace"]][-2:], ["cache.hit", "output.checked"], "the trace says so")
    ok("cache.miss" in [step["step"] for step in first["trace"]], "and of the first one")
    record = root.call("runs.get", run_id=second["run_id"])
    eq((record["cached"], record["cached_from"], record["stdout"]), (True, first["run_id"], first["stdout"]), "recorded")
    eq(root.call("runs.list", limit=1)["runs"][0]["cached_from"], first["run_id"], "in lists, too")
    eq(root.call("stats")["cached"], 1, "and counted")
    ok(not hit(root.run(RANDOM)), "who does not ask for it has it run")
    third = root.run(RANDOM, cache="refresh")
    ok(not hit(third) and third["stdout"] != first["stdout"], "refresh runs it")
    eq(use()["cached_from"], third["run_id"], "and is what is told from then on")


def keys():
    plain = {"language": "python", "code": RANDOM, "cache": "use"}
    first = root.call("run", **plain)
    for change in ({"code": RANDOM + " "}, {"entrypoint": "x.py"}, {"args": ["1"]}, {"stdin": "1"}, {"input": 2},
                   {"files": [{"path": "a", "data": ""}]}, {"env": {"A": "1"}}, {"limits": {"wall_ms": 4999}},
                   {"on_output_limit": "truncate"}, {"artifacts": ["*"]}, {"policy": "observe"}, {"trace": "off"}):
        told = root.call("run", **{**plain, **change})
        ok(not hit(told), f"other {list(change)[0]} is another run")
        ok(hit(root.call("run", **{**plain, **change})), "and known from then on")
    for change in ({"id": "a"}, {"task": "t"}, {"agent": "a"}, {"labels": {"a": "b"}}, {"policy": "standard"},
                   {"stream": True}, {"network": "denied"}, {"output": "text"}, {"limits": {"wall_ms": 5000}}):
        eq(root.call("run", **{**plain, **change}).get("cached_from"), first["cached_from"] if hit(first) else first["run_id"],
           f"{list(change)[0]} makes no difference")


def facts():
    for name, code, known in (("exit", "import sys; sys.exit(3)", True), ("exception", "1/0", True),
                              ("syntax_error", "x = (", True), ("cpu_limit", "while True: pass", False),
                              ("signal", "import os; os.kill(os.getpid(), 9)", False),
                              ("output_limit", "print('x' * 5000)", False)):
        told = [use(code, limits={"cpu_ms": 100, "stdout_bytes": 4096}) for _ in range(2)]
        eq([result["outcome"] for result in told], [name] * 2, name)
        eq(hit(told[1]), known, "is told again" if known else "is not told again")
        eq(told[0].get("error"), told[1].get("error"), "with its error")
    denied = [use("import socket", policy="strict") for _ in range(2)]
    eq([(result["outcome"], hit(result)) for result in denied], [("policy_denied", False)] * 2, "nor is a denial")


def contract():
    code = "print('{\"a\": 1}')"
    first = use(code)
    second = use(code, output="json", schema={"type": "object", "required": ["a"]})
    eq((second["cached_from"], second["outcome"], second["value"]), (first["run_id"], "ok", {"a": 1}),
       "a known output is held against the contract of who asks now")
    third = use(code, schema={"type": "object", "required": ["b"]})
    eq((third["cached_from"], third["outcome"], third["output_errors"][0]["schema_pointer"]),
       (first["run_id"], "output_invalid", "/required"), "and can break it")
    ok("value" not in use(code), "who wants text gets text")
    told = [use("import random; print(random.random())", deterministic=True) for _ in range(2)]
    ok(hit(told[1]) and told[0]["stdout"] == told[1]["stdout"], "a deterministic run is known, too", told[1]["trace"])
    eq(use("print('x' * 200000)")["stdout"], use("print('x' * 200000)")["stdout"], "much output")
    told = [use("print('[' + '1,' * 100000 + '1]')", output="json") for _ in range(2)]
    eq((hit(told[1]), len(told[1]["value"])), (True, 100001), "also as a value")
    told = [use("open('a.bin','wb').write(b'\\xff' * 3000); open('b.txt','w').write('b')", artifacts=["*"])
            for _ in range(2)]
    eq((hit(told[1]), told[1]["artifacts"]), (True, told[0]["artifacts"]), "files come again")


def ways():
    first = use("print('streamed')")
    root.notices.clear()
    use("print('streamed')", stream=True)
    eq([notice[1][0]["data"] for notice in root.notices], ["streamed\n"], "streamed as if it ran")
    told = root.call("wait", run_id=use("print('streamed')", detach=True)["run_id"])
    eq((told["stdout"], told["cached_from"]), ("streamed\n", first["run_id"]), "detached")


def stranger():
    ok(not hit(use()), "a first time")
    ok(hit(use()), "a second")


def keep():
    use("import os; print(os.urandom(4))", policy="own")
    use("import os; print(os.urandom(4))")


def known():
    ok(hit(use("import os; print(os.urandom(4))", policy="own")), "under this policy")
    ok(hit(use("import os; print(os.urandom(4))")), "and that")


def unknown(what):
    ok(not hit(use("import os; print(os.urandom(4))", policy="own")), f"another {what}, another run")
    eq(hit(use("import os; print(os.urandom(4))")), what == "policy", "and what has not changed")


def age():
    use()
    ok(hit(use()), "young")
    time.sleep(1.3)
    ok(not hit(use()), "old")


def size():
    codes = [f"print({number})" for number in range(8)]
    for code in codes:
        use(code)
    eq([hit(use(code)) for code in codes[-3:]], [True] * 3, "the newest are known")
    eq(hit(use(codes[0])), False, "the oldest are not")


def never():
    use()
    ok(not hit(use()), "nothing is told again where the host does not want that")


globals()[sys.argv[1]](*sys.argv[2:])
done()
