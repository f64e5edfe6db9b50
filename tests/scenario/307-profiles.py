"""Python with data libraries, with processes, and from a venv, each as its own runtime."""

import os
import subprocess
import sys
import tempfile
import time

from wire import Client, done, eq, ok

venv, log, programs = sys.argv[1:]
client = Client()
runtimes = {runtime["name"] for runtime in client.call("runtimes")["runtimes"]}


def run(language, code, **params):
    params["limits"] = {"wall_ms": 20000, **params.get("limits", {})}
    return client.call("run", language=language, code=code, **params)


def skip(name):
    ok(True, f"{name} # SKIP this host lacks what it needs")


# ---- numpy, pandas, matplotlib -----------------------------------------------------------------

PLOT = """
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

x = np.linspace(0, 6, 200)
table = pd.DataFrame({"x": x, "sine": np.sin(x), "cosine": np.cos(x)})
table.plot(x="x", title="Wäves, α and β")
plt.savefig("plot.png")
print(table.describe().loc["mean"].round(6).to_dict())
"""

SVD = """
import numpy as np
from numpy.random import default_rng
matrix = default_rng(1).random((200, 200))
u, s, v = np.linalg.svd(matrix @ matrix.T)
print(round(float(s[0]), 3), np.allclose(u * s @ v, matrix @ matrix.T))
"""

def plot_outside():
    """The cpu time of a plot in an unprepared interpreter, in ms."""
    with tempfile.TemporaryDirectory() as folder:
        env = {"PATH": "/usr/bin:/bin", "HOME": folder, "MPLCONFIGDIR": folder, "MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1"}
        before = os.times()
        subprocess.run(["/usr/bin/python3", "-c", PLOT], cwd=folder, env=env, capture_output=True, check=True)
        after = os.times()
    return (after.children_user + after.children_system - before.children_user - before.children_system) * 1000


if "python-data" in runtimes:
    inside, outside, result = [], [], None
    for _ in range(5):
        result = run("python-data", PLOT, artifacts=["*.png"])
        if result["outcome"] != "ok":
            break
        inside.append((result["metrics"]["cpu_user_us"] + result["metrics"]["cpu_sys_us"]) / 1000)
        outside.append(plot_outside())
    eq(result["outcome"], "ok", "a plot of a table is drawn within the usual limits")
    plots = result.get("artifacts") or [{"path": "", "data": b""}]
    eq(plots[0]["path"], "plot.png", "and comes back as an artifact")
    ok(plots[0]["data"].startswith(b"\x89PNG") and len(plots[0]["data"]) > 5000, "which is a picture")
    eq(result["stderr"], "", "nothing is said about fonts or caches")
    # Cpu time in turn, since a busy machine makes both wait.  The runtime has imported the libraries before.
    ok(inside and min(inside) < min(outside) / 2,
       f"a first plot takes {min(inside):.0f} ms of cpu time, in an interpreter by itself {min(outside):.0f} ms", (inside, outside))
    eq(run("python-data", "import os; print(os.listdir('/tmp'), os.environ['MPLBACKEND'])")["stdout"], "[] Agg\n",
       "no font cache is made in a run")
    built = run("python-data", "from matplotlib import font_manager as f\nprint(len(f.fontManager.ttflist) > 5, f.findfont('sans'))")
    ok("True /usr/share" in built["stdout"], "fonts are known", built["stdout"] + built["stderr"])
    first, second = (run("python-data", "import numpy as np, random, uuid\n"
                         "print(np.random.random(), np.random.default_rng().random(), random.random(), uuid.uuid4())")["stdout"].split()
                     for _ in range(2))
    ok(not set(first) & set(second), "two runs draw different numbers", (first, second))
    for pids in 32, 64:
        result = run("python-data", SVD, limits={"pids": pids})
        eq((result["outcome"], result["stdout"][-5:]), ("ok", "True\n"), f"a decomposition fits into {pids} threads")
    threads = run("python-data", "import numpy as np, os, threading\na = np.ones((400, 400)); a @ a\n"
                  "print(os.environ['OPENBLAS_NUM_THREADS'], os.environ['OMP_NUM_THREADS'])")
    eq(threads["stdout"], "1 1\n", "libraries are told of one processor, which is the limit")
    NAMES = "print(*[os.environ[name + '_NUM_THREADS'] for name in ('OPENBLAS', 'OMP', 'MKL', 'NUMEXPR')])\n"
    DECOMPOSED = "import os, numpy as np\n" + NAMES + "np.linalg.svd(np.ones((50, 50)))"
    for percent, count in (250, 3), (200, 2), (101, 2), (100, 1), (50, 1):
        result = run("python-data", DECOMPOSED, limits={"cpu_percent": percent, "memory_bytes": 1 << 30, "cpu_ms": 30000, "wall_ms": 30000})
        eq((result["outcome"], result["stdout"]), ("ok", f"{count} {count} {count} {count}\n"), f"with {percent} % of a processor, of {count}")
    result = run("python-data", DECOMPOSED, limits={"cpu_percent": 250, "cpu_ms": 30000, "wall_ms": 30000})
    count = 2 if result["limits"]["enforced_by"]["memory_bytes"] == "rlimit" else 3
    eq((result["outcome"], result["stdout"]), ("ok", f"{count} {count} {count} {count}\n"), "with little memory, of as many as can reserve what they want")
    result = run("python-data", "import os\n" + NAMES, limits={"cpu_percent": 200}, env={"OMP_NUM_THREADS": "1"})
    eq(result["stdout"], "2 1 2 2\n", "and the run's own word counts before that")
    THREADS = ("import ctypes, numpy as np\na = np.ones((300, 300)); a @ a\n"
               "for name in 'libopenblas.so.0', 'libblas.so.3':\n  try: print(ctypes.CDLL(name).openblas_get_num_threads()); break\n"
               "  except (OSError, AttributeError): pass\nelse: print('none')")
    counts = [run("python-data", THREADS, limits={"cpu_percent": percent})["stdout"] for percent in (100, 200)]
    ok(counts in (["1\n", "2\n"], ["none\n", "none\n"]), "a library that is loaded already is told, too", counts)
    csv = "day,city,amount\n2024-01-01,Köln,10\n2024-01-02,Bonn,5.5\n2024-02-01,Köln,7\n"
    result = run("python-data", "import pandas as pd, sys\nd = pd.read_csv(sys.stdin, parse_dates=['day'])\n"
                 "d['day'] = d['day'].dt.tz_localize('Europe/Berlin')\n"
                 "print(d.groupby('city').amount.sum().to_dict(), d.day.dt.month.tolist(), d.day.iloc[0].isoformat())", stdin=csv)
    eq(result["stdout"], "{'Bonn': 5.5, 'Köln': 17.0} [1, 1, 2] 2024-01-01T00:00:00+01:00\n", "a table is read and summed up")
    failed = [line for line in open(log) if "warm.failed" in line or "preload.failed" in line]
    eq(failed, [], "all of it was imported ahead")
else:
    skip("a plot of a table is drawn within the usual limits")

# ---- processes ---------------------------------------------------------------------------------

result = run("python-mp", "import os\npid = os.fork()\nprint(pid > 0, os.getpid(), flush=True)\nif pid: os.waitpid(pid, 0)")
eq((result["outcome"], sorted(result["stdout"].split("\n"))[1:]), ("ok", ["False 3", "True 2"]), "a program forks")
result = run("python-mp", "import os\nif os.fork() == 0:\n  os.close(1)\n  import sys; sys.exit(0)\nos.wait()\nsys = __import__('sys'); sys.exit(9)")
eq((result["outcome"], result["exit_code"]), ("exit", 9), "the end of a child is not the end of the run")
result = run("python-mp", "import os\nif os.fork() == 0: raise ValueError('of the child')\nos.wait()\nprint('fine')")
eq((result["outcome"], result["stdout"]), ("ok", "fine\n"), "nor is its exception the run's")
ok("of the child" in result["stderr"] and "/ced/" not in result["stderr"], "though it is shown", result["stderr"])
started = time.monotonic()
result = run("python-mp", "import os, time\nif os.fork() == 0:\n  time.sleep(100)\nprint('parent ends')")
eq((result["outcome"], result["stdout"]), ("ok", "parent ends\n"), "a child that goes on is not waited for")
ok(time.monotonic() - started < 60, "nor does it hold up the answer")
result = run("python-mp", "import os\nmade = 0\ntry:\n  while True:\n    if os.fork() == 0:\n      import time; time.sleep(100)\n"
             "    made += 1\nexcept OSError as error:\n  print(made, error.strerror)", limits={"pids": 16})
ok(result["outcome"] in ("pids_limit", "ok", "exit") and int((result["stdout"].split() or [0])[0]) <= 16,
   "processes are counted", (result["outcome"], result["stdout"], result.get("evidence")))
result = run("python-mp", "import os\nwhile True: os.fork()", limits={"pids": 24, "wall_ms": 2000})
ok(result["outcome"] not in ("ok", "sandbox_error"), "a bomb is a failed run", result["outcome"])
held = result["limits"]["enforced_by"]
if held["memory_bytes"] != "rlimit":
    result = run("python-mp", "import multiprocessing\ndef eat(_): return len(bytearray(60 << 20) + b'x')\n"
                 "with multiprocessing.Pool(4) as pool: print(pool.map(eat, range(8)))", limits={"memory_bytes": 64 << 20})
    ok(result["outcome"] != "ok", "memory is that of all together", result["outcome"])
EXEC = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nprint(libc.execve(b'/usr/bin/python3.11', None, None), ctypes.get_errno())"
eq(run("python-mp", EXEC)["stdout"], "-1 1\n", "no other program is started, whoever asks")
result = run("python-mp", "import ctypes\nctypes.CDLL(None).syscall(56, 0x10000011, 0, 0, 0, 0)\nprint('alive')")
eq(result["outcome"], "syscall_denied", "a child in a user namespace ends the run")
eq(run("python-mp", "print(1)")["outcome"], "ok", "the next run finds a worker")
for name in ("__import__('os').fork()", "__import__('multiprocessing').Process(target=print).start()"):
    result = run("python", name)
    ok("starts no processes" in result["stderr"] and result["outcome"] == "exception", f"the usual python says so: {name}", result["stderr"])

# ---- a venv ------------------------------------------------------------------------------------

if "venv" in runtimes:
    result = run("venv", "import ours, sys, os\nprint(ours.where(), sys.prefix, sys.prefix != sys.base_prefix, sys.executable)")
    eq(result["stdout"].split(), [f"{venv}/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages/ours/__init__.py", venv,
                                  "True", f"{venv}/bin/python"], "a venv's interpreter finds the venv's modules")
    result = run("venv", "import numpy")
    eq(result["outcome"], "exception", "and not those of the host")
    result = run("venv", f"open('{venv}/x', 'w')")
    ok("Read-only" in result["stderr"] or "Permission" in result["stderr"], "which nobody can change", result["stderr"])
else:
    skip("a venv's interpreter finds the venv's modules")

# ---- the programs that need these --------------------------------------------------------------

runner = subprocess.run([sys.executable, "-B", os.path.dirname(os.path.abspath(__file__)) + "/306-programs.py", programs, "--special"],
                        capture_output=True, text=True)
told = [line for line in runner.stdout.splitlines() if not line.startswith("ok")]
ok(runner.returncode == 0 and runner.stdout.count("\nok") > 3, "programs of these runtimes do inside what they do outside",
   "\n".join(told) + runner.stderr)
done()
