"""Sessions with package sets."""

import os
import subprocess
import sys

from wire import Client, done, eq, ok, wait_until

SETS, CONF = sys.argv[1:]
OTHER = 4242
LONG = {"wall_ms": 60000, "cpu_ms": 60000}
client = Client()


def opened(by=client, language="python", **params):
    return by.receive(by.send("session.open", language=language, limits=LONG, **params))


def refused(name, pointer, code="bad_request", words="", by=client, **params):
    error, result = opened(by, **params)
    ok(error and error["code"] == code and error["data"].get("pointer") == pointer and words in error["message"], name, error or result)


class Session:
    def __init__(self, **params):
        error, result = opened(**params)
        if error:
            raise RuntimeError(error)
        self.id = result["session"]

    def ask(self, code, **params):
        return client.receive(client.send("run", session=self.id, code=code, **params))

    def cell(self, code, **params):
        error, result = self.ask(code, **params)
        if error:
            raise RuntimeError(error)
        return result

    def says(self, code, **params):
        result = self.cell(code, **params)
        return result["stdout"], [row["name"] for row in result["runtime"].get("packages", [])]

    def close(self):
        client.call("session.close", session=self.id)


# ---- every cell has them ------------------------------------------------------------------------

s = Session(packages=["good"], states=3)
eq(s.says("import greet; print(greet.word)"), ("good\n", ["good"]), "the first cell has the session's set")
result = s.cell("import importlib; greet = importlib.reload(greet); print(greet.word, greet.__file__)")
eq(result["stdout"], "good /sets/good/greet/__init__.py\n", "and so have later ones")
row = result["runtime"]["packages"]
ok(len(row) == 1 and row[0]["digest"].startswith("sha256:"), "whose results have its digest", row)
eq(client.call("runs.get", run_id=result["run_id"])["runtime"]["packages"], row, "as has the record")
eq(s.says("import sys; print(sys.path.count('/sets/good'), '/sets/usual' in sys.path)")[0], "1 False\n",
   "it is named once, and the default one is not there")
client.receive(client.send("session.rollback", session=s.id, state=1))
eq(s.says("import sys; print(greet.word, sys.path.count('/sets/good'))"), ("good 1\n", ["good"]), "also after going back")
error, _ = s.ask("1", packages=["good"])
eq((error["code"], error["data"]["pointer"], error["data"]["reason"]), ("bad_request", "/packages", "conflict"), "a cell names none")
eq(client.receive(client.send("check", session=s.id, code="1"))[0], None, "check knows them")
s.close()

s = Session(packages=["changing", "good"])
eq(s.says("import greet; print(greet.word)"), ("changing\n", ["changing", "good"]), "sets are in the order of session.open")
s.close()
s = Session()
eq([s.says("import greet; print(greet.word)") for _ in (1, 2)], [("usual\n", ["usual"])] * 2, "without `packages` it has the default ones")
s.close()
s = Session(packages=[])
eq(s.cell("import greet")["outcome"], "exception", "and with an empty list none")
eq("packages" in s.cell("pass")["runtime"], False, "which its results say")
s.close()

# ---- node ---------------------------------------------------------------------------------------

s = Session(language="javascript", packages=["mods"])
eq(s.says("console.log(require('left').word)"), ("left\n", ["mods"]), "a session of node has its set")
eq(s.says("console.log((await import('left')).default.word)"), ("left\n", ["mods"]), "in later cells, too")
error, _ = s.ask("1", files=[{"path": "node_modules/left/index.js", "data": "exports.word = 'mine'"}])
eq((error["code"], error["data"]["pointer"]), ("bad_request", "/packages"), "no cell brings files of its own there")
eq(s.says("console.log(require('left').word)")[0], "left\n", "and the session goes on")
eq(s.says("require('fs').unlinkSync('/work/node_modules'); console.log(1)")[0], "1\n", "a cell can take the set away from its own session")
eq(s.says("console.log(2)")[0], "2\n", "which goes on without")
s.close()

# ---- refused ------------------------------------------------------------------------------------

refused("a set that is none", "/packages/0", packages=["nothing"], words="You can use")
refused("a set of another runtime", "/packages/0", packages=["mods"], words="is for javascript")
refused("a set twice", "/packages/1", packages=["good", "good"])
refused("a name that is none", "/packages/0", packages=["../good"])
refused("no list", "/packages", packages="good")
refused("two sets of node", "/packages/0", language="javascript", packages=["good", "mods"])
os.seteuid(OTHER)
other = Client()
os.seteuid(0)
refused("another user's set", "/packages/0", by=other, packages=["closed"], words="other users")
eq(client.call("session.list")["sessions"], [], "none of them has opened a session")

# ---- what a cell tries --------------------------------------------------------------------------

s = Session(packages=["good"])
s.cell("import greet")
result = s.cell("""
import os
done = []
for name, what in {
    "write": lambda: open("/sets/good/new.py", "w"),
    "append": lambda: open("/sets/good/greet/__init__.py", "a"),
    "unlink": lambda: os.unlink("/sets/good/greet/__init__.py"),
    "mkdir": lambda: os.mkdir("/sets/mine"),
}.items():
    try:
        what()
        done.append(name)
    except OSError:
        pass
print(done)
""")
eq(result["stdout"], "[]\n", "a cell changes nothing in a set")
s.close()

# ---- a set that changes meanwhile ---------------------------------------------------------------

s = Session(packages=["changing"])
eq(s.says("import greet; print(greet.word)")[0], "changing\n", "a session uses a set")
with open(os.path.join(SETS, "changing/greet/__init__.py"), "a", encoding="ascii") as file:
    file.write("evil = True\n")


def state(name):
    return next(row["state"] for runtime in client.call("runtimes")["runtimes"] for row in runtime.get("packages", []) if row["name"] == name)


ok(wait_until(lambda: state("changing") == "off"), "which is changed, and found")
error, _ = s.ask("print(1)")
eq((error["code"], error["data"]["pointer"]), ("bad_request", "/packages/0"), "its cells are refused from then on")
ok("is off" in error["message"], "with the reason", error["message"])
refused("and no session opens with it", "/packages/0", packages=["changing"], words="is off")
s.close()

# ---- a set that its administrator replaces ---------------------------------------------------------


def digest_of(name):
    return subprocess.run(["cectl", "packages", "digest", os.path.join(SETS, name)], check=True, capture_output=True, text=True).stdout.strip()


def digests(result):
    return [row["digest"] for row in result["runtime"]["packages"]]


s = Session(packages=["swapped"], states=2)
old = digest_of("swapped")
first = s.cell("import greet; print(greet.word)")
eq((first["stdout"], digests(first)), ("before\n", [old]), "a session uses a set")
os.rename(os.path.join(SETS, "swapped"), os.path.join(SETS, "away"))
os.makedirs(os.path.join(SETS, "swapped/greet"))
with open(os.path.join(SETS, "swapped/greet/__init__.py"), "w", encoding="ascii") as file:
    file.write("word = 'after'\n")
new = digest_of("swapped")
with open(CONF, encoding="ascii") as file:
    text = file.read()
with open(CONF, "w", encoding="ascii") as file:
    file.write(text.replace(old, new))
waits = client.call("admin.reload")["waits"]
ok("packages" in str(waits), "an administrator puts another folder in its place, and its digest into the settings, which wait for a restart", waits)
answers = []
for turn in range(200):
    error, result = s.ask("import importlib; print(importlib.reload(greet).word)")
    answers.append(error["message"] if error else (result["stdout"], digests(result)))
    if error:
        break
ok(all(answer == ("before\n", [old]) for answer in answers[:-1]), "its cells have the old files, with the old digest", answers[:3])
ok(wait_until(lambda: state("swapped") == "off"), "until the daemon finds that they are not the set's any more")
error, result = s.ask("print(greet.word)")
ok(error and error["data"]["pointer"] == "/packages/0" and "is off" in error["message"],
   "from then on they are refused", error or result)
error, result = client.receive(client.send("run", language="python", code="import greet; print(greet.word)", packages=["swapped"]))
ok(error or result["outcome"] == "rejected", "and so is a run", error or result)
every = [row for run in client.call("runs.list", limit=1000)["runs"] for row in (client.call("runs.get", run_id=run["run_id"]).get("runtime") or {}).get("packages", [])]
ok(every and new not in str(every), "no result has the digest of what has taken its place", every[-1:])
s.close()
done()
