"""Random numbers, clock and hashes: different in each run, and the same in each with `deterministic`."""

import time

from wire import Client, done, eq, ok

client = Client()
runtimes = {runtime["name"] for runtime in client.call("runtimes")["runtimes"]}


def run(language, code, **params):
    params["limits"] = {"wall_ms": 20000, **params.get("limits", {})}
    return client.call("run", language=language, code=code, **params)


def twice(language, code, **params):
    return [run(language, code, **params) for _ in range(2)]


def lines_of(results):
    for result in results:
        if result["outcome"] != "ok":
            ok(False, "it runs", (result["outcome"], result["stderr"]))
    return [result["stdout"].splitlines() for result in results]


# ---- each run is its own --------------------------------------------------------------------------

PYTHON = """
import os, random, secrets, ssl, tempfile, uuid
print(random.random())
print(random.Random().random())
print(random.SystemRandom().random())
print(os.urandom(8).hex())
print(uuid.uuid4())
print(secrets.token_hex(8))
print(ssl.RAND_bytes(8).hex())
print(tempfile.mktemp())
"""
NUMPY = """
import numpy
print(numpy.random.random())
print(numpy.random.default_rng().random())
"""
NODE = """
const crypto = require('crypto');
console.log(Math.random());
console.log(crypto.randomUUID());
console.log(crypto.randomBytes(8).toString('hex'));
console.log(crypto.randomInt(2 ** 40));
console.log(crypto.getRandomValues(new Uint32Array(2)).join());
"""
BASH = "echo $RANDOM$RANDOM$RANDOM\necho $SRANDOM\n"

PLAIN = [("python", PYTHON), ("python-data", NUMPY), ("javascript", NODE), ("bash", BASH)]
for language, code in PLAIN:
    if language not in runtimes:
        ok(True, f"two runs of {language} share no chance # SKIP this host has none")
        continue
    first, second = lines_of(twice(language, code))
    same = [pair for pair in zip(first, second) if pair[0] == pair[1]]
    ok(len(first) == code.count("print(") + code.count(".log(") + code.count("echo ") and not same,
       f"two runs of {language} share no chance", (first, second))
    hundred = [run(language, code)["stdout"] for _ in range(8)]
    ok(len(set(hundred)) == 8, f"nor do eight of {language}", hundred)

# ---- and the same on purpose ----------------------------------------------------------------------

SAME_PYTHON = """
import datetime, os, random, secrets, sys, tempfile, threading, time, uuid
print({"apple", "pear", "plum", "fig", None, (1, "x"), b"bytes"}, hash("text"), [hash(t) for t in ("a", b"b", 1.5)])
print(frozenset(map(str, range(20))))
print(random.random(), random.sample(range(1000), 5), random.Random().random(), random.SystemRandom().random())
print(uuid.uuid4(), secrets.token_urlsafe(), os.urandom(12).hex(), tempfile.mktemp())
print(time.time(), time.time_ns(), time.monotonic(), time.perf_counter(), time.process_time(), time.thread_time())
print(datetime.datetime.now(), datetime.date.today(), time.strftime("%c"), time.localtime().tm_zone, time.ctime())
start = time.monotonic(); time.sleep(0.01); print(time.monotonic() - start)
print(os.getpid(), sys.getfilesystemencoding(), os.environ["TZ"], os.environ["LANG"], time.tzname)
event = threading.Event(); start = time.monotonic(); print(event.wait(0.02), time.monotonic() - start)
import asyncio
async def work():
    start = asyncio.get_running_loop().time()
    await asyncio.sleep(0.01)
    return asyncio.get_running_loop().time() - start
print(asyncio.run(work()) >= 0.01)
"""
SAME_NUMPY = NUMPY + "print(numpy.random.permutation(9), numpy.random.default_rng().normal(size=3))\n"
SAME_NODE = NODE + """
const { performance } = require('perf_hooks');
console.log(new Date().toISOString(), Date.now(), String(new Date(0)), Date().length, new Date(2020, 1).getTime());
console.log(performance.now(), process.hrtime(), process.hrtime.bigint(), process.uptime(), performance.timeOrigin);
console.log(new Date() instanceof Date, Date.prototype.constructor === Date, Date.name, Math.random.length);
class Day extends Date {}
console.log(new Day(5).getTime(), new Day().getTime() > 9e11, new Day() instanceof Date);
const began = Date.now();
setTimeout(() => {
  console.log('timer', Date.now() - began);
  const { setTimeout: wait } = require('timers/promises');
  wait(30, 'value').then((value) => console.log(value, Date.now() - began));
}, 20);
const order = new Set(['b', 'a', Math.random()]);
console.log([...order].join());
"""
SAME_BASH = """
echo $RANDOM $RANDOM $EPOCHSECONDS $SECONDS
date; date +%s.%N; printf '%(%F %T)T\\n' -1
shuf -i 1-20 | tr '\\n' ' '
bash -c 'echo $RANDOM' 2>/dev/null || true
sleep 0.01; mktemp -u
"""

SAME = [("python", SAME_PYTHON), ("python-data", SAME_NUMPY), ("javascript", SAME_NODE), ("bash", SAME_BASH)]
for language, code in SAME:
    if language not in runtimes:
        ok(True, f"deterministic runs of {language} are equal # SKIP this host has none")
        continue
    results = twice(language, code, deterministic=True)
    first, second = lines_of(results)
    eq(first, second, f"two deterministic runs of {language} are equal")
    ok(len(first) > 2 and run(language, code)["stdout"] != results[0]["stdout"], "and unlike one that is not")
    held = [run(language, code, deterministic=True)["stdout"] == results[0]["stdout"] for _ in range(6)]
    ok(all(held), "so are six more")

result = run("python", "import random, time\nprint(random.random(), int(time.time()))", deterministic=True)
eq(result["stdout"].split(), ["0.8444218515250481", "946684800"], "chance is that of seed 0, the year is 2000")
result = run("python", "import os, sys\nprint(sorted(os.environ), sys.flags.hash_randomization)", deterministic=True)
plain = run("python", "import os, sys\nprint(sorted(os.environ), sys.flags.hash_randomization)")
eq(result["stdout"].replace(" 0\n", " 1\n"), plain["stdout"], "its environment is that of other runs")

for language, code in [("python", "import random\nprint(random.random())"), ("javascript", "console.log(Math.random())")]:
    if language in runtimes:
        results = [run(language, code, deterministic=True, policy=policy) for policy in ("standard", "strict")]
        eq([result["outcome"] for result in results], ["ok", "ok"], f"{language}: a strict policy minds nothing of it")
        eq(results[1]["stdout"], results[0]["stdout"], "and the rules come after the clock and the chance")

# ---- what it must not change ------------------------------------------------------------------------

started = time.monotonic()
result = run("python", "import time\ntime.sleep(0.3)\nprint('slept')", deterministic=True)
ok(result["stdout"] == "slept\n" and time.monotonic() - started >= 0.3, "sleep is sleep all the same")
result = run("python", "import time\nwhile time.time() < 946684801: pass\nprint('passed')", deterministic=True)
eq(result["stdout"], "passed\n", "a program that waits by looking at the clock gets on")
result = run("python", "import time\ntime.sleep(100)", deterministic=True, limits={"wall_ms": 300})
eq(result["outcome"], "wall_limit", "the limit goes by the true clock")
result = run("python", """
import queue, threading, time
q = queue.Queue()
threading.Thread(target=lambda: (time.sleep(0.1), q.put(7))).start()
print(q.get(timeout=5))
try: q.get(timeout=0.05)
except queue.Empty: print("empty")
lock = threading.Condition()
with lock: print(lock.wait(0.02))
""", deterministic=True)
eq(result["stdout"], "7\nempty\nFalse\n", "threads wait for each other as they do")
result = run("python", "1 / 0", deterministic=True)
eq((result["outcome"], result["error"]["line"]), ("exception", 1), "an error is told as ever")
result = run("python", "import socket\nsocket.socket()", deterministic=True)
ok(any(step["step"] == "call.refused" and 0 <= step["t_us"] < 60_000_000 for step in result["trace"]),
   "the house has the true time", result["trace"])
record = client.call("runs.get", run_id=result["run_id"])
eq(record["request"]["deterministic"], True, "it is in the record")
eq(result["runtime"], run("python", "1")["runtime"], "the runtime is the same one")
ok(not any("steady" in runtime["name"] for runtime in client.call("runtimes")["runtimes"]), "and no other is listed")
done()
