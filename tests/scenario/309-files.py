"""`trace: files`: the paths opened below /work and /tmp, by any means, and the kind of access."""

from wire import Client, done, eq, ok

client = Client()
WORK = "/work/"
runtimes = {runtime["name"] for runtime in client.call("runtimes")["runtimes"]}


def run(code, language="python", **params):
    params["limits"] = {"wall_ms": 20000, **params.get("limits", {})}
    return client.call("run", language=language, code=code, trace="files", **params)


def how(result):
    """path -> letters of r(ead), w(ritten), c(reated), d(eleted)"""
    return {row["path"]: "".join(word[0] for word in ("read", "written", "created", "deleted") if row[word])
            for row in result["files"]["opened"]}


FILES = [{"path": "in.txt", "data": "hello\n"}, {"path": "deep/er/data.csv", "data": "1,2\n"}]

result = run("print('nothing')")
eq((result["outcome"], result["files"]), ("ok", {"complete": True, "others": 0, "opened": []}), "a program that opens nothing has opened nothing")
result = run("print('nothing')", files=FILES)
eq(how(result), {}, "what is written for it is not its doing")

result = run("""
open('in.txt').read()
open('made.txt', 'w').write('x')
open('deep/er/data.csv').read()
with open('/tmp/scratch', 'w+') as f: f.write('y'); f.seek(0); f.read()
import os
os.remove('/tmp/scratch')
os.rename('made.txt', 'moved.txt')
os.makedirs('new/er')
open('new/er/file', 'w').write('z')
open('new/er/file').read()
try: open('missing')
except FileNotFoundError: pass
""", files=FILES)
found = how(result)
eq(result["outcome"], "ok", "a program that reads and writes runs as ever")
eq({path: found.get(path) for path in ("/work/in.txt", "/work/made.txt", "/work/deep/er/data.csv", "/tmp/scratch", "/work/moved.txt")},
   {"/work/in.txt": "r", "/work/made.txt": "wc", "/work/deep/er/data.csv": "r", "/tmp/scratch": "wcd", "/work/moved.txt": "c"},
   "each file is told with what was done to it")
ok("c" in found.get("/work/new/er/file", "") and "w" in found["/work/new/er/file"], "in new folders too", found)
ok("/work/missing" not in found and WORK + "main.py" not in found, "and no others", found)
ok(result["files"]["complete"], "all of it", result["files"])
ok(any(step["step"] == "files.opened" and step["ok"] for step in result["trace"]), "the trace says so", result["trace"])
record = client.call("runs.get", run_id=result["run_id"])
eq(record["files"], result["files"], "and the record has it")
eq(record["request"]["trace"], "files", "as it was asked for")

result = run("import sqlite3\ndb = sqlite3.connect('x.db')\ndb.execute('create table t (a)')\ndb.commit()\ndb.close()")
ok("w" in how(result).get("/work/x.db", "") and "c" in how(result)["/work/x.db"], "a library that opens by itself is seen", how(result))
result = run("import os\nos.write(os.open('raw', os.O_WRONLY | os.O_CREAT), b'x')\nos._exit(0)")
eq(how(result).get("/work/raw"), "wc", "so is a program that leaves at once")
result = run("open('in.txt').read()\nwhile True: pass", files=FILES, limits={"wall_ms": 300})
eq((result["outcome"], how(result)), ("wall_limit", {"/work/in.txt": "r"}), "and one that is killed")
result = run("open('a', 'w').write('x')\nraise SystemExit(3)", artifacts=["a"])
eq((result["outcome"], len(result["artifacts"]), how(result)), ("exit", 1, {"/work/a": "wc"}), "artifacts are taken as ever, and not told as opened")
result = run("open(__file__).read()\nopen('main.py', 'a').write('#')")
eq(how(result).get(WORK + "main.py"), "rw", "a program that opens itself is told of")

result = run("for i in range(300):\n  open(f'file{i}', 'w').write('x')")
told = result["files"]
ok(len(told["opened"]) in (127, 128) and told["others"] >= 172 and not told["complete"], "there is a bound, and it is told", (len(told["opened"]), told["others"]))
result = run("import os\nfor i in range(100):\n  os.mkdir(f'd{i}')\nimport time; time.sleep(0.1)\nopen('d99/x', 'w').close()")
ok(not result["files"]["complete"], "so is one on folders", result["files"])
result = run("for i in range(60000):\n  open('in.txt').close()", files=FILES)
ok(result["outcome"] == "ok" and how(result) == {"/work/in.txt": "r"}, "a flood of openings is counted or told as incomplete",
   (result["outcome"], result["files"]))
result = run("import os\nname = bytes([255, 254, 10])\nos.close(os.open(name, os.O_CREAT))\nopen('ok\\x1b[0m', 'w')")
ok(result["files"]["others"] >= 1 and not result["files"]["complete"], "a name that is no text is counted", result["files"])
result = run("import os\nos.makedirs('a/in')\nopen('a/one', 'w').close()\nos.rename('a', 'b')\nopen('b/two', 'w').write('x')\nopen('b/in/three', 'w').close()")
ok(not {"/work/a/two", "/work/a/in/three"} & how(result).keys() and
   (not result["files"]["complete"] or {"/work/b/two", "/work/b/in/three"} <= how(result).keys()),
   "in a folder that has been renamed files are told by the name that it has", result["files"])

many = [{"path": f"a/b/c/file{i}", "data": "x"} for i in range(100)]
result = run("for i in range(100): open(f'a/b/c/file{i}').read()", files=many)
eq((result["files"]["complete"], len(how(result)), set(how(result).values())), (True, 100, {"r"}), "many files in a few folders are a few folders")
result = client.call("run", language="python", code="open('x', 'w')")
ok("files" not in result, "who does not ask gets nothing", list(result))
again = run("print('nothing')")
eq(again["files"]["opened"], [], "and what one run opened the next does not find")

if "bash" in runtimes:
    result = run("cat in.txt > out.txt; grep -q hello in.txt; mkdir d; echo x > d/y; sleep 0.05", "bash", files=FILES)
    found = how(result)
    ok(found.get("/work/in.txt") == "r" and set("wc") <= set(found.get("/work/out.txt", "")) and set("wc") <= set(found.get("/work/d/y", "")),
       "every process of a shell is seen", found)
if "javascript" in runtimes:
    result = run("const fs = require('fs');\nfs.readFileSync('in.txt');\nfs.writeFileSync('out', 'x');\nrequire('./lib.js');", "javascript",
                 files=[*FILES, {"path": "lib.js", "data": "1"}])
    found = how(result)
    ok(found.get("/work/in.txt") == "r" and found.get("/work/out") == "wc" and "r" in found.get("/work/lib.js", ""), "so is node", found)
    for name in ("main.js", "other.js", "other.mjs"):
        result = run("1;", "javascript", entrypoint=name, files=[{"path": "main.js" if name != "main.js" else "lib.js", "data": "1"}])
        eq(how(result), {f"{WORK}{name}": "r"} if name == "other.mjs" else {}, f"and not the worker that waited for {name}")
    result = run("const fs = require('fs');\nfs.writeFileSync('main.js', fs.readFileSync(__filename));", "javascript", entrypoint="other.js")
    eq((how(result), result["files"]["opened"][0]["opens"]), ({f"{WORK}main.js": "wc", f"{WORK}other.js": "r"}, 1), "whatever the program is called")
done()
