"""What the client adds to a run over a raw socket.

    cost.py [ROUNDS]

A raw request, one of Client, a raw one with asyncio and one of AsyncClient take turns, each on a connection of
its own, to the daemon at CED_SOCKET.  What counts is the time outside the daemon: from the call to its result, without
`total_us` and `record_us` of the result.  These vary by milliseconds, whoever asks.  Each prints the median
and the 90th percentile, and what it adds to the raw one: the median of the differences between the medians
of every 50 rounds.  AsyncClient is compared with both.  In brackets are the quartiles of these differences.
The cpu time of this process is compared in the same way.
"""

import asyncio
import os
import pathlib
import socket
import statistics
import sys
import time

import msgpack

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "src"))
import ced

WARM_UP = 50
BLOCK = 50


class Raw:
    """A socket and msgpack, as in docs/PROTOCOL.md."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.environ.get("CED_SOCKET", "/run/ced/ced.sock"))
        self.unpacker = msgpack.Unpacker(raw=False)

    def run(self, code):
        self.socket.sendall(msgpack.packb([0, 1, "run", [{"language": "python", "code": code}]]))
        while True:
            self.unpacker.feed(self.socket.recv(65536))
            for message in self.unpacker:
                return message[3]


class RawAsync(Raw):
    """The same socket, and asyncio waits for what comes."""

    async def run(self, code):
        loop = asyncio.get_running_loop()
        self.socket.setblocking(False)
        await loop.sock_sendall(self.socket, msgpack.packb([0, 1, "run", [{"language": "python", "code": code}]]))
        while True:
            self.unpacker.feed(await loop.sock_recv(self.socket, 65536))
            for message in self.unpacker:
                return message[3]


def added(times, raw):
    """The quartiles of what the blocks differ by."""
    blocks = [slice(at, at + BLOCK) for at in range(0, len(times), BLOCK)]
    differences = [statistics.median(times[block]) - statistics.median(raw[block]) for block in blocks]
    return statistics.quantiles(differences, n=4) if len(differences) > 1 else differences * 3


def shown(name, base, times, raw, cpu, raw_cpu):
    tenths = statistics.quantiles(times, n=10)
    low, middle, high = added(times, raw)
    return (f"{name:<12} outside the daemon: p50 {statistics.median(times):6.0f} us   p90 {tenths[8]:6.0f} us   "
            f"p50 over {base} {middle:+5.0f} us [{low:+5.0f} {high:+5.0f}]   cpu over {base} {added(cpu, raw_cpu)[1]:+5.0f} us")


async def main(rounds):
    raw, raw_async, client, aio = Raw(), RawAsync(), ced.Client(), ced.AsyncClient()
    times = {"raw": [], "Client": [], "raw asyncio": [], "AsyncClient": []}
    cpu = {name: [] for name in times}
    for _ in range(rounds + WARM_UP):
        for name, run in zip(times, (raw.run, client.run, raw_async.run, aio.run)):
            began, used = time.perf_counter_ns(), time.process_time_ns()
            result = run("print(1)")
            if asyncio.iscoroutine(result):
                result = await result
            took = (time.perf_counter_ns() - began) / 1000
            cpu[name].append((time.process_time_ns() - used) / 1000)
            metrics = result["metrics"] if isinstance(result, dict) else result.metrics
            times[name].append(took - metrics["total_us"] - metrics["record_us"])
    for name, base in [*((name, "raw") for name in times), ("AsyncClient", "raw asyncio")]:
        print(shown(name, base, *(each[WARM_UP:] for each in (times[name], times[base], cpu[name], cpu[base]))))
    client.close()
    await aio.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 500))
