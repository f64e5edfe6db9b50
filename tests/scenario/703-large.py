import sys
import time

import msgpack

from wire import Client, done, eq, ok, wait_until

MOST_MS = 250  # generous for a busy machine; the time of the loop itself is measured more exactly below
ROUNDS = 5


def packed(msgid, **params):
    return msgpack.packb([0, msgid, "run", [{"language": "python", "code": "1", **params}]])


MESSAGES = {
    "values": lambda: packed(1, input=[f"{number:013d}" for number in range(1000000)]),
    "tiny": lambda: packed(1, input=[0] * 15000000),
    "keys": lambda: packed(1, env={f"K{number:06d}": "" for number in range(1000000)}),
    "text": lambda: packed(1, input="x" * 15000000),
    "program": lambda: packed(1, code="# " + "x" * 250000 + "\nprint(1)\n"),
    "files": lambda: packed(1, files=[{"path": f"d/{number}", "data": b"\xff" * 15000} for number in range(1000)]),
    "broken": lambda: packed(1, input=[f"{number:014d}" for number in range(1000000)])[:-14] + b"\xff" * 14,
}


def send(kind):
    message = MESSAGES[kind]()
    count = 0
    print(f"{len(message)} bytes", flush=True)
    clients = [Client() for _ in range(2)]
    while True:
        for client in clients:
            client.sock.sendall(message)
        for client in clients:
            error, result = client.receive(1)
            count += 1
            print(f"{count} answered: {error['code'] if error else result['outcome']}", flush=True)


def took_ms(client, seconds):
    took = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.monotonic()
        if client.call("hello")["server"] != "ced":
            raise AssertionError("no answer")
        took.append((time.monotonic() - began) * 1000)
    return sorted(took)


def measure(kind, path):
    """How long other clients wait for an answer.  A busy machine may be late, but not each time."""
    def sent():
        with open(path, encoding="utf-8") as file:
            return file.read().count("answered")
    client = Client()
    if not ok(wait_until(lambda: sent() > 0), "it is answered"):
        done()
    best = None
    for _ in range(ROUNDS):
        before = sent()
        took = took_ms(client, 2)
        while sent() == before:
            took = sorted(took + took_ms(client, 2))
        late = took[len(took) * 99 // 100]
        best = late if best is None else min(best, late)
        if best <= MOST_MS:
            break
    ok(best <= MOST_MS, f"of {len(took)} questions one in a hundred took {best:.1f} ms, half of them {took[len(took) // 2]:.2f} ms")
    done()


def loop(pid):
    """The cpu time that a message costs the loop itself, which does not depend on other load."""
    def cpu_ms():
        with open(f"/proc/{pid}/task/{pid}/schedstat", encoding="utf-8") as file:
            return int(file.read().split()[0]) / 1e6
    costs = {}
    for kind, make in MESSAGES.items():
        message = make()
        for _ in range(3):
            client = Client()
            before = cpu_ms()
            client.sock.sendall(message)
            client.receive(1)
            time.sleep(0.2)
            costs[kind] = min(costs.get(kind, 1e9), cpu_ms() - before)
            client.close()
    told = ", ".join(f"{kind} {cost:.0f} ms" for kind, cost in costs.items())
    ok(all(cost <= 10 * max(costs["text"], 8) for cost in costs.values()), f"of one message each: {told}")
    done()


def order():
    """Messages after a large message on the same connection are not mixed up with it."""
    client = Client()
    large = packed(1, input=[1] * 100000, labels={"n": "1"})
    small = packed(2, labels={"n": "2"})
    client.sock.sendall(large + small + packed(3, input="x" * 300000) + msgpack.packb([0, 4, "hello", []]))
    told = {msgid: client.receive(msgid) for msgid in (4, 3, 2, 1)}
    eq([told[msgid][1]["outcome"] for msgid in (1, 2, 3)], ["ok"] * 3, "each is answered")
    eq(told[4][1]["server"], "ced", "also what is none")
    for _ in range(20):  # a client that leaves in the middle of it does no harm
        client = Client()
        client.sock.sendall(large)
        client.close()
    client = Client()
    client.sock.sendall(packed(1, input=[1] * 100000)[:-1] + b"\xc1")
    error, _ = client.receive(1)
    eq(error["code"], "bad_request", "what is broken is told so")
    client = Client()
    client.sock.sendall(packed(1, input=[1] * 100000, surprise=1))
    error, _ = client.receive(1)
    eq(error["data"]["pointer"], "/surprise", "what breaks the contract, too")
    ok("run_id" in error["data"], "and is recorded")
    root = Client()
    ok(wait_until(lambda: root.call("admin.status")["in_progress"] == 0), "all has ended")
    done()


globals()[sys.argv[1]](*sys.argv[2:])
