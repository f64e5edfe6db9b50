import sys
import threading
import time

from wire import Client, daemon_pid, done, eq, ok, rss_kib

spawner = int(sys.argv[1])
daemon = daemon_pid(spawner)
client = Client()
CAP = {"stdout": 1 << 20, "stderr": 256 << 10}
MIB = 1 << 20

ways = {
    "1 byte at a time": "import os\nwhile True: os.write({fd}, b'x')",
    "through print": "import sys\nwhile True: print('x' * 77, file=sys.{stream})",
    "1 GiB in one write": "import os\nm = [b'x' * (1 << 20)] * 1024\nwhile True: os.writev({fd}, m)",
    "from a thread": "import os, threading\ndef f():\n  while True: os.write({fd}, b'y' * 4096)\n"
    "t = threading.Thread(target=f); t.start(); t.join()",
    "from a daemon thread after the main program ended well": "import os, threading\ndef f():\n"
    "  while True: os.write({fd}, b'y' * 4096)\nthreading.Thread(target=f).start()",
    "from a handler at exit": "import atexit, os\n@atexit.register\ndef f():\n"
    "  while True: os.write({fd}, b'z' * 100)",
}

highest = [0]
watching = threading.Event()


def watch():
    while not watching.is_set():
        highest[0] = max(highest[0], rss_kib(daemon))
        time.sleep(0.01)


for _ in range(3):  # by now all one-time allocations have happened
    client.run("print('x' * 1048576)")
before = rss_kib(daemon)
thread = threading.Thread(target=watch, daemon=True)
thread.start()
kills = []
for stream, cap in CAP.items():
    fd = 1 if stream == "stdout" else 2
    for name, code in ways.items():
        result = client.run(code.format(fd=fd, stream=stream), limits={"wall_ms": 30000, "cpu_ms": 30000})
        eq(result["outcome"], "output_limit", f"{stream}, {name}: killed for it")
        eq(len(result[stream]), cap, f"{stream}, {name}: exactly {cap} bytes are kept")
        evidence = result["evidence"]
        eq(evidence["limit"], f"{stream}_bytes", f"{stream}, {name}: the evidence names the limit")
        kills.append(evidence["kill_us"])
watching.set()
thread.join()
grown = highest[0] - before
ok(grown < 16 * 1024, f"the daemon's memory stayed flat meanwhile (+{grown} KiB)")
kills.sort()
print(f"# from the passing byte to the kill: median {kills[len(kills) // 2]} us, longest {kills[-1]} us")

results = [client.run("while True: print('more')", limits={"stdout_bytes": 1000}) for _ in range(50)]
eq({(r["outcome"], r["stderr"]) for r in results}, {("output_limit", "")},
   "nor does any of 50 see its pipe break before it is killed")

result = client.run("import os\nfor i in range(300): os.write(1, bytes([48 + i % 10]) * 4096)",
                    on_output_limit="truncate", limits={"stdout_bytes": 1000})
eq(result["outcome"], "ok", "truncate lets it run on")
eq((len(result["stdout"]), len(result["stdout_tail"])), (500, 500), "keeps the first half and the last")
eq((result["stdout"][0], result["stdout_tail"][-1]), ("0", "9"), "which are the first and the last bytes")
eq(result["stdout_bytes"], 300 * 4096, "and counts all of it")
eq(result["truncated"], ["stdout"], "and says that it cut")

result = client.run("print('\\u20ac' * 1000)", limits={"stdout_bytes": 1000})
eq(result["outcome"], "output_limit", "text past the cap")
eq(result["stdout"], "\u20ac" * 333, "is never cut inside a character")

result = client.run("import os; os.write(1, b'\\xff' * 10)")
eq(result["stdout"], b"\xff" * 10, "bytes that are no text come back as bytes")
result = client.run("import os; os.write(1, b'a\\0b')")
eq(result["stdout"], "a\0b", "a NUL byte is text like any other")

result = client.run("import os\nos.fork()")
eq(result["error"]["type"], "PermissionError", "Python has no grandchild to print from: fork is refused")
grandchildren = {
    "a child": "while :; do echo aaaaaaaa; done & wait",
    "a grandchild": "( ( while :; do echo aaaaaaaa; done & ); sleep 30 )",
    "a grandchild whose parents have ended well": "( ( yes & ) & ) ; exit 0",
    "a pipeline": "yes | tr y z | cat",
    "a child in a session of its own": "set -m; yes & wait",
}
if "bash" not in [runtime["name"] for runtime in client.call("runtimes")["runtimes"]]:
    grandchildren = {}
for stream, cap in CAP.items():
    for name, code in grandchildren.items():
        if stream == "stderr":
            code = "exec 1>&2; " + code
        result = client.call("run", language="bash", code=code, limits={"wall_ms": 30000, "cpu_ms": 30000})
        if name.endswith("ended well") and result["outcome"] == "ok":
            ok(len(result[stream]) <= cap, f"{stream}, {name}: what it left behind died with its jail")
            continue
        eq(result["outcome"], "output_limit", f"{stream}, {name}: killed for it")
        eq(len(result[stream]), cap, f"{stream}, {name}: exactly {cap} bytes are kept")
done()
