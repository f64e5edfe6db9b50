"""Tolerant input: other names of languages, and null for an absent value."""

from wire import Client, done, eq

client = Client()


def error_of(method, **params):
    error, result = client.receive(client.send(method, **params))
    return (error["code"], error["message"]) if error else f"answered: {result}"


for word, code, language in (
    ("py", "print(1)", "python"),
    ("python3", "print(1)", "python"),
    ("js", "console.log(1)", "javascript"),
    ("node", "console.log(1)", "javascript"),
    ("sh", "echo 1", "bash"),
):
    result = client.call("run", language=word, code=code)
    eq((result["outcome"], result["stdout"]), ("ok", "1\n"), f"{word} is {language}")
    record = client.call("runs.get", run_id=result["run_id"])
    eq(record["request"]["language"], language, "and is recorded so")
    eq(client.call("check", language=word, code=code)["would"], "run", f"check knows {word}, too")
first = client.call("run", language="py", code="print(2)", id="alias")
again = client.call("run", language="python", code="print(2)", id="alias")
eq((first.get("cached"), again.get("cached")), (False, True), "either name is the same action")

plain = {"language": "python", "code": "print(3)", "id": "nulls"}
nulls = dict.fromkeys(
    ("entrypoint", "args", "stdin", "files", "env", "on_output_limit", "artifacts", "policy", "network",
     "output", "schema", "secrets", "task", "agent", "labels", "cache", "trace", "deterministic", "stream", "detach"))
first = client.call("run", **plain)
again = client.call("run", **plain, **nulls, limits={"wall_ms": None, "pids": None})
eq((first["outcome"], again.get("cached")), ("ok", True), "null for an optional key is the same action as none")
result = client.call("run", language="python", code="print(input())", input=None)
eq(result["stdout"], "null\n", "null is a JSON document where one is wanted")
eq(len(client.call("runs.list", agent=None, limit=None, before=None)["runs"]) > 3, True, "other methods take it so, too")
code, message = error_of("run", language="python", code=None)
eq((code, message.startswith("/code: ")), ("bad_request", True), "a required key is not to be null")
code, message = error_of("run", language="pithon", code="1")
eq("did you mean python?" in message, True, "a language that is nearly right is suggested")
code, message = error_of("run", language="python", code="1", policy="strikt")
eq("did you mean strict?" in message, True, "so is a policy")
code, message = error_of("run", language="python", code="1", policy="x")
eq("; there are: " in message, True, "and what there is is listed")
done()
