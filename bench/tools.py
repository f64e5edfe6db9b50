#!/usr/bin/python3
"""
The round trip of a tool, beside that of `hello`.

    tools.py [--rounds N] [--calls N]        CED_SOCKET says where the daemon listens

Each round asks `hello` so many times, and then runs a program in Python that calls a tool of this
client as often and measures each call.  Both take turns, so that load meets both.  The exit status is
1 if a call takes more than MOST times as long as `hello` at the median.
"""

import argparse
import json
import os
import socket
import statistics
import sys
import time

import msgpack

MOST = 4.0
PROGRAM = """
import json, time
times = []
for n in range({calls}):
    began = time.perf_counter_ns()
    tools.echo(n=n)
    times.append(time.perf_counter_ns() - began)
print(json.dumps(times))
"""


class Client:
    def __init__(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.environ.get("CED_SOCKET", "/run/ced/ced.sock"))
        self.unpacker = msgpack.Unpacker(raw=False)
        self.msgid = 0

    def send(self, method, params):
        self.msgid += 1
        self.sock.sendall(msgpack.packb([0, self.msgid, method, [params]]))
        return self.msgid

    def messages(self):
        while True:
            data = self.sock.recv(1 << 16)
            if not data:
                raise EOFError("the daemon closed the connection")
            self.unpacker.feed(data)
            yield from self.unpacker

    def call(self, method, **params):
        """The result; calls of tools are answered with their arguments meanwhile."""
        msgid = self.send(method, params)
        for message in self.messages():
            if message[0] == 2 and message[1] == "run.call":
                call = message[2][0]
                self.send("call.reply", {"run_id": call["run_id"], "call": call["call"], "result": call["args"]})
            elif message[0] == 1 and message[1] == msgid:
                if message[2]:
                    raise RuntimeError(message[2])
                return message[3]
        return None


def hello_times(client, count):
    times = []
    for _ in range(count):
        began = time.perf_counter_ns()
        client.call("hello")
        times.append(time.perf_counter_ns() - began)
    return times


def call_times(client, count, **tool):
    tools = [{"name": "echo", "input_schema": {"type": "object"}, **tool}]
    result = client.call("run", language="python", code=PROGRAM.format(calls=count), tools=tools,
                         limits={"calls": count, "wall_ms": 60000, "cpu_ms": 60000})
    if result["outcome"] != "ok":
        sys.exit(f"tools.py: the program ended with {result['outcome']}: {result['reason']}")
    return json.loads(result["stdout"])


def shown(name, times, beside):
    tenths = statistics.quantiles(times, n=10)
    median = statistics.median(times)
    print(f"{name:<24} {median / 1000:9.0f} {tenths[0] / 1000:9.0f} {tenths[8] / 1000:9.0f} {median / beside:9.1f}")
    return median / beside


def main():
    parser = argparse.ArgumentParser(description="The round trip of a tool, beside that of hello.")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--calls", type=int, default=50, help="in a round, of each kind")
    given = parser.parse_args()
    client = Client()
    hello, plain, effects = [], [], []
    for _ in range(given.rounds):
        hello += hello_times(client, given.calls)
        plain += call_times(client, given.calls)
        effects += call_times(client, given.calls, effects=True)
    beside = statistics.median(hello)
    print(f"{'microseconds':<24} {'median':>9} {'10 %':>9} {'90 %':>9} {'x hello':>9}")
    shown("hello", hello, beside)
    ratio = shown("a call from Python", plain, beside)
    shown("one with effects", effects, beside)
    print(f"a call takes {ratio:.1f} times as long as hello; at most {MOST:.0f} are promised")
    return ratio > MOST


if __name__ == "__main__":
    sys.exit(main())
