"""
Many clients of one daemon, from one process that never waits for any of them.

In a closed loop each client sends its next program when it has an answer.  In an open loop programs
are due at a constant rate, whatever the daemon does; one that finds no free connection waits, and
its latency counts from when it was due.  So a daemon that stalls cannot hide it.
"""

import collections
import random
import selectors
import socket
import time

from ways import new_unpacker, request_of, went_well

PATIENCE_S = 30


class Caller:
    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)
        self.unpacker = new_unpacker()
        self.due = 0.0

    def send(self, request, due):
        self.due = due
        self.sock.sendall(request)

    def answer(self):
        """(error, result) when it is whole, else None."""
        data = self.sock.recv(1 << 20)
        if not data:
            raise ConnectionError("the daemon has closed the connection")
        self.unpacker.feed(data)
        for _, _, error, result in self.unpacker:
            return error, result
        return None


class Crowd:
    def __init__(self, daemon, programs, runtime, clients):
        self.programs = programs
        self.runtime = runtime
        self.selector = selectors.DefaultSelector()
        self.callers = [Caller(daemon.path) for _ in range(clients)]
        for caller in self.callers:
            self.selector.register(caller.sock, selectors.EVENT_READ, caller)
        self.latencies_s = []
        self.failed = 0

    def close(self):
        self.selector.close()
        for caller in self.callers:
            caller.sock.close()

    def send(self, caller, due):
        caller.send(request_of(random.choice(self.programs), self.runtime), due)

    def answered(self, wait_s=None):
        """The callers whose answers have come, after at most wait_s; one of them if it is None."""
        free = []
        events = self.selector.select(PATIENCE_S if wait_s is None else max(wait_s, 0))
        if not events and wait_s is None:
            raise TimeoutError(f"no answer for {PATIENCE_S} s")
        for key, _ in events:
            answer = key.data.answer()
            if answer:
                self.latencies_s.append(time.perf_counter() - key.data.due)
                self.failed += not went_well(*answer)
                free.append(key.data)
        return free


def closed_loop(daemon, programs, runtime, clients, seconds):
    """(runs per second, latencies, failures)"""
    crowd = Crowd(daemon, programs, runtime, clients)
    began = time.perf_counter()
    for caller in crowd.callers:
        crowd.send(caller, time.perf_counter())
    busy, counted = clients, 0
    while busy:
        for caller in crowd.answered():
            if time.perf_counter() - began < seconds:
                counted += 1
                crowd.send(caller, time.perf_counter())
            else:
                busy -= 1
    crowd.close()
    return counted / seconds, crowd.latencies_s, crowd.failed


def open_loop(daemon, programs, runtime, clients, rate, seconds):
    """(latencies from when each was due, failures)"""
    crowd = Crowd(daemon, programs, runtime, clients)
    free, waiting = list(crowd.callers), collections.deque()
    began = time.perf_counter()
    total = max(1, int(rate * seconds))
    dues = (began + number / rate for number in range(total))
    following = next(dues)
    while len(crowd.latencies_s) < total:
        now = time.perf_counter()
        while following is not None and following <= now:
            waiting.append(following)
            following = next(dues, None)
        while free and waiting:
            crowd.send(free.pop(), waiting.popleft())
        wait_s = None if following is None else following - time.perf_counter()
        free += crowd.answered(wait_s)
    crowd.close()
    return crowd.latencies_s, crowd.failed
