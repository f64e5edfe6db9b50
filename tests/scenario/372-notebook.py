"""A notebook of thirty cells, with a fork, a rollback and cells that are undone, has the values of a plain process.

The plain process runs the cells of the path that survives, one after the other, in one namespace.
"""

import json
import subprocess
import sys
import tempfile

from wire import Client, done, eq, ok

LIMITS = {"wall_ms": 60000, "cpu_ms": 60000, "memory_bytes": 768 << 20, "disk_bytes": 64 << 20}
client = Client()

PLAIN = """
import contextlib, io, json, sys
scope, printed = {"__name__": "__main__"}, []
for code in json.load(sys.stdin):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        try: exec(compile(code, "<cell>", "exec"), scope)
        except ZeroDivisionError: pass
    printed.append(said.getvalue())
print(json.dumps(printed))
"""


class Notebook:
    def __init__(self):
        self.id = client.call("session.open", language="python-data", policy="observe", states=8, limits=LIMITS)["session"]
        self.paths = {0: []}  # for each state, the cells that lead to it, as (code, stdout)
        self.state = 0
        self.cells = 0

    def run(self, code, outcome="ok", begins=None, **params):
        """One cell; it must end so.  Returns its result."""
        if begins is not None:
            params["from"] = begins
        error, result = client.receive(client.send("run", session=self.id, code=code, display=True, **params))
        if error:
            raise RuntimeError(error)
        self.cells += 1
        if result["outcome"] != outcome:
            ok(False, f"cell {self.cells} ends with {outcome}", result)
        told = result["session"]
        if "went_back" not in told:
            start = self.state if begins is None else begins
            self.paths[told["state"]] = self.paths[start] + [(code, result["stdout"])]
        self.state = told["state"]
        return result

    def back(self, state):
        error, _ = client.receive(client.send("session.rollback", session=self.id, state=state))
        if error:
            raise RuntimeError(error)
        self.state = state


def png_of(result):
    for item in result["display"]:
        if "image/png" in item["data"]:
            return item["data"]["image/png"]
    return b""


book = Notebook()
run = book.run
run("import io, json, math, os, random\nimport numpy as np\nimport pandas as pd")
run("random.seed(11); rng = np.random.default_rng(5)")
run("rows = 500\nframe = pd.DataFrame({'shop': rng.choice(list('abcd'), rows), 'day': np.arange(rows) % 7, "
    "'sold': rng.poisson(20, rows), 'price': rng.normal(5, 1, rows).round(2)})\nprint(frame.head(3).to_csv())")
run("frame['turnover'] = frame.sold * frame.price\nprint(frame.turnover.sum().round(3))")
run("by_shop = frame.groupby('shop').turnover.agg(['mean', 'max']).round(3)\nprint(by_shop.to_json())")
html = run("by_shop")
ok(any("<table" in str(item["data"].get("text/html", "")) for item in html["display"]), "a data frame is shown as a table")
run("with open('shops.csv', 'w') as file: by_shop.to_csv(file)\nprint(os.path.getsize('shops.csv'))")
plot = run("import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\naxes.plot(frame.groupby('day').sold.mean())\nplt.show()")
ok(png_of(plot).startswith(b"\x89PNG"), "a plot is shown as a picture")
run("def model(x, slope, base):\n    return slope * x + base\nprint(model(2, 3, 4))")
run("xs = np.linspace(0, 10, 50); ys = model(xs, 2.5, 1) + rng.normal(0, .1, 50)\nprint(round(float(ys.sum()), 6))")
fitted = run("slope, base = np.polyfit(xs, ys, 1)\nprint(round(float(slope), 6), round(float(base), 6))")["session"]["state"]
run("print('before')\n1 / 0", outcome="exception")
run("print(random.random())")
stood = book.state
killed = run("frame = None\nos.remove('shops.csv')\nwhile True: pass", outcome="wall_limit", limits={"wall_ms": 700})
eq(killed["session"].get("went_back"), stood, "the endless loop is killed and undone")
run("print(len(frame), os.path.exists('shops.csv'))")
run("lines = open('shops.csv').read().splitlines(); print(lines[1])")
fork = run("tries = []\ndef note(value):\n    tries.append(value)\n    return len(tries)\nprint(note('trunk'))")["session"]["state"]
run("print(note('left'), rng.integers(1000))")
run("with open('branch', 'w') as file: file.write('left')")
run("print(note('right'), rng.integers(1000))", begins=fork)
run("print(tries, os.path.exists('branch'))")
run("class Basket:\n    def __init__(self): self.items = {}\n    def add(self, what, n=1):\n        self.items[what] = self.items.get(what, 0) + n\n"
    "        return self\nbasket = Basket().add('egg', 6).add('milk')\nprint(basket.items)")
kept = book.state
run("basket.add('wine', 99); frame.drop(frame.index, inplace=True); print(len(frame))")
run("open('shops.csv', 'w').close()")
book.back(kept)
run("print(basket.items, len(frame), os.path.getsize('shops.csv'))")
run("def squares():\n    for n in range(1000): yield n * n\nstream = squares(); print([next(stream) for _ in range(5)])")
run("pivot = frame.pivot_table('sold', 'day', 'shop', 'sum'); print(int(pivot.values.sum()), pivot.shape)")
undone = run("basket.items.clear()\nopen('shops.csv', 'w').close()\nraise SystemExit(3)", outcome="exit", atomic=True)
ok("went_back" in undone["session"], "an atomic cell that exits is undone")
run("print([next(stream) for _ in range(3)], basket.items)")
run("print(json.dumps({'slope': round(float(slope), 4), 'rows': len(frame), 'sum': round(float(frame.turnover.sum()), 3), "
    "'random': random.random(), 'drawn': int(rng.integers(10**9)), 'tries': tries, 'days': frame.day.tolist()[:9]}, sort_keys=True))")
eq(book.cells, 30, "the notebook has thirty cells")

path = book.paths[book.state]
with tempfile.TemporaryDirectory() as folder:
    plain = subprocess.run(["/usr/bin/python3", "-c", PLAIN], cwd=folder, input=json.dumps([code for code, _ in path]),
                           env={"PATH": "/usr/bin:/bin", "MPLBACKEND": "Agg", "HOME": folder}, capture_output=True, text=True, check=False)
if plain.returncode:
    print(plain.stderr, file=sys.stderr)
printed = json.loads(plain.stdout or "[]")
eq(len(path), 24, "of which these survive")
eq([said for _, said in path], printed, "each cell of the path that survives prints what a plain process prints")
client.call("session.close", session=book.id)
done()
