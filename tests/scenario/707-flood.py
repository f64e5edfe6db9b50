import json
import os
import time

from wire import Client, done, ok

ROUNDS = 2
WORK = "import time\nbegan = time.process_time()\nwhile time.process_time() - began < 0.005:\n    pass"
FLOODER, NEIGHBOUR = 61001, 61002


def start_as(uid, work, *given):
    """Another process calls it as that user; take() returns the result."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid:
        os.close(theirs)
        return pid, os.fdopen(ours)
    try:
        os.close(ours)
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        os.write(theirs, json.dumps(work(*given)).encode())
    finally:
        os._exit(0)


def take(started):
    pid, answer = started
    told = answer.read()
    os.waitpid(pid, 0)
    return json.loads(told)


def flood(seconds):
    """Keeps 32 runs waiting or running."""
    client = Client()
    until = time.monotonic() + seconds
    count = 0
    for _ in range(32):
        client.send("run", language="python", code=WORK)
    while time.monotonic() < until:
        client.unpacker.feed(client.sock.recv(1 << 16))
        for message in client.unpacker:
            count += 1
            client.send("run", language="python", code=WORK)
    return count


def paces(seconds):
    """The duration in milliseconds of each run, one after the other."""
    client = Client()
    until = time.monotonic() + seconds
    found = []
    while time.monotonic() < until:
        began = time.monotonic()
        result = client.run(WORK)
        found.append((time.monotonic() - began) * 1000 if result["outcome"] == "ok" else 1e6)
        time.sleep(0.01)
    return found


def at(paces_found, part):
    return sorted(paces_found)[int(len(paces_found) * part)]


def measure():
    """(paces alone, paces beside the flood, runs of the flood), taken in turns."""
    alone, beside, flooded = [], [], 0
    for _ in range(ROUNDS):
        alone += take(start_as(NEIGHBOUR, paces, 4))
        flooder = start_as(FLOODER, flood, 6)
        time.sleep(1)
        beside += take(start_as(NEIGHBOUR, paces, 4))
        flooded += take(flooder)
    return alone, beside, flooded


def ratio(alone, beside, part):
    return at(beside, part) / at(alone, part)


# Other load on the machine may change between the two halves of a measurement, so three attempts are allowed.
# The 99th percentile is only reported: a single stall of the machine decides it.
for attempt in range(3):
    alone, beside, flooded = measure()
    ratios = {part: ratio(alone, beside, part) for part in (0.5, 0.9, 0.99)}
    for part, found in ratios.items():
        print(f"# p{part * 100:.0f} of the other goes from {at(alone, part):.0f} to {at(beside, part):.0f} ms, {found:.1f} times")
    if max(ratios[0.5], ratios[0.9]) <= 3:
        break
ok(flooded > 50, f"one user floods with {flooded} runs")
ok(max(alone + beside) < 1e6, "and no run of another is harmed")
for part in (0.5, 0.9):
    ok(ratios[part] <= 3, f"p{part * 100:.0f} of the other is at most three times as long beside the flood")
done()
