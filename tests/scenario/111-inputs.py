"""The inputs of a run: those that its limits leave no room for, and the permissions that were asked for."""

from wire import Client, done, eq, ok

client = Client()


def run(code, language="python", **params):
    params["limits"] = {"wall_ms": 20000, **params.get("limits", {})}
    return client.call("run", language=language, code=code, **params)


# A file gets the permissions that were asked for, even none.
MODES = {
    "python": "import os\nprint(*(oct(os.stat(name).st_mode & 0o777) for name in ('none', 'all', 'usual')))",
    "bash": "stat -c 0o%a none all usual | tr '\\n' ' '",
    "javascript": "console.log(...['none', 'all', 'usual'].map((name) => '0o' + (require('fs').statSync(name).mode & 0o777).toString(8)))",
}
FILES = [{"path": "none", "data": "x", "mode": 0}, {"path": "all", "data": "x", "mode": 0o777}, {"path": "usual", "data": "x"}]
for language, code in MODES.items():
    eq(run(code, language, files=FILES)["stdout"].strip(), "0o0 0o777 0o644", f"{language}: files have the mode that was asked for")



def refused(**params):
    """Returns the error's pointer, reason and message."""
    error, _ = client.receive(client.send("run", **{"language": "python", "code": "pass", **params}))
    return error and (error["data"]["pointer"], error["data"]["reason"], error["message"].split(": ", 1)[-1])


# Inputs that do not fit the run's own limits are refused before anything runs, with the numbers.
big = {"path": "big", "data": "x" * 1000000}

eq(refused(files=[big], limits={"disk_bytes": 65536}), ("/limits/disk_bytes", "range", "is 65536, and the program, its files and stdin take 1007616 bytes of disk"),
   "files that do not fit on the disk")
eq(refused(stdin="x" * 100000, limits={"disk_bytes": 65536}), ("/limits/disk_bytes", "range", "is 65536, and the program, its files and stdin take 106496 bytes of disk"),
   "a stdin that does not fit on the disk")
eq(refused(stdin="x" * 100000, limits={"file_bytes": 65536}), ("/limits/file_bytes", "range", "is 65536, and the program, its files and stdin take 100000 bytes in one file"),
   "a stdin that is larger than a file may be")
eq(refused(files=[{"path": f"a/b/{i}", "data": ""} for i in range(15)] + [{"path": "a-/x/y", "data": ""}], limits={"inodes": 20}),
   ("/limits/inodes", "range", "is 20, and the program, its files and stdin take 21 files and folders"), "too many files and folders")

# Limits of exactly the needed size are enough.
FOLDERS = [{"path": f"a/b/{i}", "data": "x" * 5000} for i in range(15)] + [{"path": "a-/x/y", "data": ""}]
for language, code in (("python", "print(open('a/b/9').read(1))"), ("bash", "head -c 1 a/b/9"), ("javascript", "console.log(require('fs').readFileSync('a/b/9', 'utf8')[0])")):
    result = run(code, language, files=FOLDERS, stdin="y" * 70000,
                 limits={"disk_bytes": (1 + 30 + 18) * 4096, "inodes": 22, "file_bytes": 70000})
    eq((result["outcome"], result["stdout"].strip()), ("ok", "x"), f"{language}: with exactly as much room as it takes it runs")

# A process accepts 128 KiB in one argument; a language that starts no new process accepts more.
LONG = "x" * 131072
eq(refused(language="bash", code=":", args=["a", LONG])[:2], ("/args/1", "too_long"), "an argument that is too long for a process")
eq(refused(language="bash", code=":", env={"V": LONG})[:2], ("/env/V", "too_long"), "a variable that is too long for a process")
ok("131072" in refused(language="bash", code=":", args=[LONG])[2], "with the number")
eq(run("echo ${#1}", "bash", args=[LONG[1:]])["stdout"], "131071\n", "one byte less is passed")
for language, code in (("python", "import sys\nprint(len(sys.argv[1]))"), ("javascript", "console.log(process.argv[2].length)")):
    eq(run(code, language, args=[LONG])["stdout"], "131072\n", f"{language}: any argument is passed")
found = client.call("check", language="bash", code=":", args=[LONG], limits={"disk_bytes": 1})
ok("/limits/disk_bytes" in str(found), "check tells it beforehand")

done()
