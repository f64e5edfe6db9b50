#!/usr/bin/python3
"""
Programs like those that agents send, each beside the same program in an unjailed interpreter.

    programs.py --daemon [NAME=]SOCKET:PID ... [--language python] [--rounds N] [--only WORD] [--json FILE]

bench/programs/ has the programs.  Each has a line `NUMBER = 0`; every run gets another number there,
so no verdict and no result is remembered.  In each round the programs come in another order, and so
do the ways of running one program.  PID is the daemon's spawner, whose processes' cpu and page
faults are counted.  With several daemons, for instance of two builds, each is a way of its own.
"""

import argparse
import json
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import time

import msgpack

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
PAUSE_S = 0.005  # before each run: the next worker is made, and the last one cleared away
WARM_UP = 2

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/", "LANG": "C.UTF-8"}
LANGUAGES = {
    "python": (".py", ["/usr/bin/python3", "-c"], r"^NUMBER = 0$", "NUMBER = %d"),
    "javascript": (".js", ["node", "-e"], r"^const NUMBER = 0;$", "const NUMBER = %d;"),
    "bash": (".sh", ["/bin/bash", "-c"], r"^NUMBER=0$", "NUMBER=%d"),
}


# ---- ways of running a program -------------------------------------------------------------------


def run_unjailed(command, code):
    subprocess.run(command + [code], env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                   stderr=subprocess.DEVNULL, check=False)
    return True


class Daemon:
    def __init__(self, where, language):
        name, _, place = where.rpartition("=")
        path, _, pid = place.rpartition(":")
        self.name = name or "ced"
        self.pid = int(pid)
        self.language = language
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)
        self.unpacker = msgpack.Unpacker(raw=False, strict_map_key=False)

    def run(self, code):
        self.sock.sendall(msgpack.packb([0, 1, "run", [{"language": self.language, "code": code}]]))
        while True:
            data = self.sock.recv(1 << 20)
            if not data:
                sys.exit(f"{self.name} has closed the connection")
            self.unpacker.feed(data)
            for _, _, error, result in self.unpacker:
                return not error and result["outcome"] in ("ok", "exception", "exit")


# ---- what processes have used --------------------------------------------------------------------


def processes():
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            found[int(name)] = fields
    return found


def used(root):
    """(seconds of cpu, minor page faults) of a process and all below it, reaped ones included."""
    found = processes()
    below = {root}
    grown = True
    while grown:
        more = {pid for pid, fields in found.items() if int(fields[1]) in below} - below
        grown = bool(more)
        below |= more
    ticks = faults = 0
    for pid in below & found.keys():
        fields = found[pid]
        ticks += sum(map(int, fields[11:15]))
        faults += int(fields[7]) + int(fields[8])
    return ticks / os.sysconf("SC_CLK_TCK"), faults


# ---- measuring -----------------------------------------------------------------------------------


def programs_of(language, only):
    ending, _, pattern, replacement = LANGUAGES[language]
    folder = os.path.join(FOLDER, language)
    for name in sorted(os.listdir(folder)):
        if name.endswith(ending) and (only or "") in name:
            with open(os.path.join(folder, name)) as file:
                code = file.read()
            if not re.search(pattern, code, re.M):
                sys.exit(f"{name} has no line for the number")
            yield name[: -len(ending)], lambda number, code=code: re.sub(
                pattern, replacement % number, code, count=1, flags=re.M
            )


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))]


def measure(options):
    _, command, _, _ = LANGUAGES[options.language]
    daemons = [Daemon(where, options.language) for where in options.daemon]
    ways = {" ".join(os.path.basename(part) for part in command): lambda code: run_unjailed(command, code)}
    ways.update({daemon.name: daemon.run for daemon in daemons})
    programs = list(programs_of(options.language, options.only))
    samples = {name: {way: [] for way in ways} for name, _ in programs}
    bad = set()
    before = {}
    for round_ in range(-WARM_UP, options.rounds):
        if round_ == 0:
            before = {daemon.name: used(daemon.pid) for daemon in daemons}
        random.shuffle(programs)
        for name, make in programs:
            for way in random.sample(list(ways), len(ways)):
                code = make(random.randrange(1, 1 << 30))
                time.sleep(PAUSE_S)
                began = time.perf_counter()
                if not ways[way](code):
                    bad.add((way, name))
                took = time.perf_counter() - began
                if round_ >= 0:
                    samples[name][way].append(took * 1e3)
    time.sleep(0.2)
    runs = options.rounds * len(programs)
    costs = {}
    for daemon in daemons:
        cpu, faults = used(daemon.pid)
        costs[daemon.name] = {
            "cpu_ms": (cpu - before[daemon.name][0]) * 1e3 / runs,
            "faults": (faults - before[daemon.name][1]) / runs,
        }
    return list(ways), samples, costs, bad


def show(ways, samples, costs, bad):
    other = ways[0]
    print(f"{'p50 ms':<24}" + "".join(f"{way:>14}" for way in ways) + "".join(f"{way + ' is':>12}" for way in ways[1:]))
    for name in sorted(samples):
        p50 = {way: percentile(samples[name][way], 0.5) for way in ways}
        print(
            f"{name:<24}"
            + "".join(f"{p50[way]:>14.2f}" for way in ways)
            + "".join(f"{'1/%.1f' % (p50[other] / p50[way]):>12}" for way in ways[1:])
        )
    for way in ways[1:]:
        p50s = [percentile(samples[name][way], 0.5) for name in samples]
        ratios = [percentile(samples[name][other], 0.5) / percentile(samples[name][way], 0.5) for name in samples]
        every = [took for name in samples for took in samples[name][way]]
        print(
            f"{way}: median of the p50s {statistics.median(p50s):.2f} ms, 1/{statistics.median(ratios):.1f} of {other}; "
            f"the slowest 1/{min(ratios):.1f}; p99 of all {percentile(every, 0.99):.2f} ms; "
            f"{costs[way]['cpu_ms']:.2f} ms of cpu and {costs[way]['faults']:.0f} page faults a run"
        )
    for way, name in sorted(bad):
        print(f"failed: {way}: {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--daemon", action="append", required=True, metavar="[NAME=]SOCKET:PID")
    parser.add_argument("--language", choices=LANGUAGES, default="python")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", metavar="WORD")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    ways, samples, costs, bad = measure(options)
    show(ways, samples, costs, bad)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"ways": ways, "samples_ms": samples, "costs": costs}, file)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
