import os
import signal
import sys
import threading
import time

from wire import Client, children, command, done, eq, ok, wait_until

spawner = int(sys.argv[1])
numbers = iter(range(10**9))


def inspectors():
    return [pid for pid in children(spawner) if "inspector" in command(pid)]


def status():
    client = Client()
    try:
        return client.call("admin.status")["inspectors"]
    finally:
        client.close()


def new(text):
    """Another program each time, so that no verdict comes from the cache."""
    return f"# {next(numbers)}\n{text}"


class Asked(threading.Thread):
    """One request in progress."""

    def __init__(self, method, code, **params):
        super().__init__(daemon=True)
        self.method, self.code, self.params = method, code, params
        self.start()

    def run(self):
        client = Client(timeout=120)
        result = client.call(self.method, language="python", code=self.code, **self.params)
        client.close()
        policy = result["policy"]
        self.rules = sorted({finding["rule"] for finding in policy["findings"]})
        self.decision = policy["decision"]
        self.outcome = result.get("outcome")

    def answer(self):
        self.join(120)
        return self.decision, self.rules


def large(bytes_wanted):
    line = "if False: total = sum([abs(x * 2.5 - len(str(x))) for x in range(3) if x not in {'a': 1}])\n"
    return new(line * (bytes_wanted // len(line) - 1))


# --- inspectors without cpu time ------------------------------------------------------------------------
text = large(250_000)
quiet = [Asked(method, text + f"# {method}", policy="standard").answer() for method in ("check", "run")]
eq(quiet[0], quiet[1], "check and run say the same of a large program")
eq(quiet[0], ("allow", []), "and let it pass")

stopped = inspectors()
for pid in stopped:
    os.kill(pid, signal.SIGSTOP)
asked = [Asked(method, large(250_000), policy="standard") for method in ("check", "run", "check", "run")]
time.sleep(3)
for pid in stopped:
    os.kill(pid, signal.SIGCONT)
eq([one.answer() for one in asked], quiet * 2, "they say so too where the host has no processor for three seconds")
eq(sorted(inspectors()), sorted(stopped), "and no inspector is lost for that")

# --- programs up to the configured size -------------------------------------------------------------------
for size in (300_000, 1_000_000):
    for policy in ("standard", "strict"):
        eq(Asked("check", large(size), policy=policy).answer(), ("allow", []),
           f"a program of {size} bytes is read under {policy}")
eq(Asked("run", large(1_000_000)).answer(), ("allow", []), "and runs")

# --- inspectors that are killed -----------------------------------------------------------------------------
before = status()["answered"]
denied = []
for _ in range(20):
    victims = inspectors()
    asked = [Asked("run", new("x = 1\n" * 3000), policy="standard") for _ in range(4)]
    for pid in victims[:1]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    denied += [one.answer() for one in asked if one.answer()[0] == "deny"]
ok(not denied, "of 80 programs none is denied because an inspector was killed", denied[:3])
began = time.monotonic()
ok(wait_until(lambda: status()["ready"] == len(inspectors()) == 2), "and all places are taken again", status())
took = time.monotonic() - began
ok(took < 30, "soon, however often that happened", took)
ok(status()["answered"] > before, "by inspectors that answer")
done()
