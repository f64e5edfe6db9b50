#!/usr/bin/python3
"""
Programs like those that agents send, in ced and in every other way that is installed.

    programs.py --daemon [NAME=]SOCKET:PID ... [--language python] [--set NAME] [--rounds N] ...

PID is the daemon's spawner.  With several daemons, for instance of two builds, each is a way of its
own.  In each round the programs come in another order, and so do the ways of running one program.
bench/README.md explains the numbers.
"""

import argparse
import json
import os
import platform
import random
import statistics
import sys
import tempfile
import time

import chart
import comparison
import costs
import load
import report
import sites
from floor import Sync, Wake, folder_for_sync
from sets import ENDINGS, INTERPRETERS, SETS, Set
from starter import CannotHide, Starter
from ways import Ced, Command, Daemon, Warm, others

PAUSE_S = 0.005  # before each run: the next worker is made, and the last one cleared away
SETTLE_S = 0.3  # before costs are read: what the last runs left is cleared away
BARE = "bare python3 -c"
CLIENTS_MOST = 8  # times the processors
SLICES = 3
OPEN_PARTS = (0.5, 0.8)


def percentiles(values):
    """By nearest rank: of two samples, the smaller is p50, and the larger p90 and p99."""
    values = sorted(values)
    return {f"p{part}": values[-(-len(values) * part // 100) - 1] for part in (50, 90, 99)}


# ---- the ways of a set ---------------------------------------------------------------------------


class Bench:
    """What all sets share: starters, the floor's two parts, the daemons."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.starter = Starter(folder)
        self.without_packages = self.bare_starter() if options.language == "python" else None
        self.wake = Wake()
        self.daemons = [Daemon(where) for where in options.daemon]
        if len({daemon.name for daemon in self.daemons}) < len(self.daemons):
            sys.exit("programs.py: each --daemon wants a NAME of its own")
        place = folder_for_sync(options.state, [daemon.spawner for daemon in self.daemons])
        self.sync = Sync(place) if place else None
        if not place:
            print("no folder of a daemon's state can be written to; --state FOLDER names a folder "
                  "on its disk.\nThe floor has no sync.")
        self.others = list(self.usable_others())

    def bare_starter(self):
        site = sites.read_by(self.starter, INTERPRETERS["python"])
        print("\n".join(sites.told(site)))
        if not sites.has_pth(site):
            print("A bare Debian has no .pth files either: both are the same here.")
            return None
        try:
            starter = Starter(self.folder, without_packages=True)
        except CannotHide as error:
            print(f"{BARE}: cannot be measured here: {error}")
            return None
        print(f"{BARE}: the same with these folders empty, as on a bare Debian: it imports "
              f"{sites.read_by(starter, INTERPRETERS['python'])['modules']} modules")
        return starter

    def usable_others(self):
        interpreter = INTERPRETERS[self.options.language]
        for name, way in others(self.starter, interpreter, self.folder):
            if name in self.options.without:
                continue
            trouble = way.trouble(self.options.language) if way else "it is not installed"
            if trouble:
                print(f"{name}: left out: {trouble}")
            else:
                yield way

    def ways_of(self, set_):
        """The first is what all others are compared with."""
        command = " ".join(os.path.basename(word) for word in set_.interpreter)
        ways = [Command(command, self.starter, set_.interpreter, "interpreter")]
        if self.without_packages and not set_.needs_packages:
            ways.append(Command(BARE, self.without_packages, set_.interpreter, "interpreter"))
        ways += self.others
        runtime = self.daemons[0].runtimes[set_.runtime]
        if runtime["kind"] == "python":
            ways.append(Warm(runtime["preload"].split(), self.folder))
        return ways + [Ced(daemon, set_.runtime) for daemon in self.daemons]


# ---- one set -------------------------------------------------------------------------------------


class Samples:
    """All runs of one way."""

    def __init__(self, way, set_):
        self.way = way
        self.times_ms = {program.name: [] for program in set_.programs}
        self.cpu_s = 0.0
        self.faults = 0
        self.metrics = []
        self.failed = 0
        self.trouble = ""
        self.costs = None

    def add(self, program, run):
        self.times_ms[program.name].append(run.took_s * 1e3)
        self.cpu_s += run.cpu_s
        self.faults += run.faults
        if run.metrics:
            self.metrics.append(run.metrics)
        if not run.good:
            self.failed += 1
            self.trouble = f"{program.name}: {run.trouble}"

    @property
    def runs(self):
        return sum(map(len, self.times_ms.values()))

    def p50_of(self, program):
        return percentiles(self.times_ms[program])["p50"]


def one_round(bench, set_, samples, floor, keep):
    """Each program in each way, and the floor's parts; all in random order."""
    parts = [("wake", bench.wake)] + ([("sync", bench.sync)] if bench.sync else [])
    for program in random.sample(set_.programs, len(set_.programs)):
        for what in random.sample(samples + parts, len(samples) + len(parts)):
            time.sleep(PAUSE_S)
            if isinstance(what, Samples):
                run = what.way.run(program)
                if keep:
                    what.add(program, run)
            else:
                took_s = what[1].measure()
                if keep:
                    floor[what[0]].append(took_s * 1e3)


def measure_set(bench, set_):
    ways = bench.ways_of(set_)
    samples = [Samples(way, set_) for way in ways]
    daemons = [sample for sample in samples if sample.way.kind == "daemon"]
    floor = {"sync": [], "wake": []}
    warm_up = [sample for sample in samples if sample.way.kind != "jail"]
    one_round(bench, set_, warm_up, floor, keep=False)
    time.sleep(SETTLE_S)
    before = {sample: costs.used(sample.way.daemon.spawner) for sample in daemons}
    for _ in range(bench.options.rounds):
        one_round(bench, set_, samples, floor, keep=True)
    time.sleep(SETTLE_S)
    for sample in daemons:
        after = costs.used(sample.way.daemon.spawner)
        sample.costs = costs.per_run(before[sample], after, sample.runs)
    for way in ways:
        way.close()
    return summary(set_, samples, floor, bench)


def floor_of(samples, floor, bench):
    """A function of a program's name, and what is printed of the floor."""
    warm = next((sample for sample in samples if sample.way.kind == "warm"), None)
    found = {name: percentiles(times) if times else None for name, times in floor.items()}
    fixed = sum(part["p50"] for part in found.values() if part)
    found["folder"] = bench.sync.folder if bench.sync else None
    found["warm"] = None
    if warm:
        found["warm"] = statistics.median(warm.p50_of(name) for name in warm.times_ms)
    found["sum"] = fixed + (found["warm"] or 0)
    return (lambda name: fixed + (warm.p50_of(name) if warm else 0)), found


def summary(set_, samples, floor, bench):
    reference = samples[0]
    bare = next((sample for sample in samples if sample.way.name == BARE), None)
    floor_for, found = floor_of(samples, floor, bench)
    return {
        "what": set_.what,
        "rounds": bench.options.rounds,
        "programs": len(set_.programs),
        "reference": reference.way.name,
        "floor": found,
        "ways": {
            sample.way.name: summary_of_way(sample, reference, bare, floor_for)
            for sample in samples
        },
    }


def summary_of_way(sample, reference, bare, floor_for):
    programs = {
        name: {
            **percentiles(times),
            "ratio": sample.p50_of(name) / reference.p50_of(name),
            "ratio_bare": sample.p50_of(name) / bare.p50_of(name) if bare else None,
            "floors": sample.p50_of(name) / floor_for(name),
            "samples_ms": times,
        }
        for name, times in sample.times_ms.items()
    }

    def median(key):
        values = [row[key] for row in programs.values() if row[key] is not None]
        return statistics.median(values) if values else None

    cpu_ms, faults = sample.cpu_s * 1e3 / sample.runs, sample.faults / sample.runs
    if sample.costs:
        cpu_ms = sum(cost["cpu_ms"] for cost in sample.costs.values())
        faults = sum(cost["faults"] for cost in sample.costs.values())
    return {
        "kind": sample.way.kind,
        **percentiles([took for times in sample.times_ms.values() for took in times]),
        **{key: median(key) for key in ("ratio", "ratio_bare", "floors")},
        "cpu_ms": cpu_ms or None,
        "faults": faults or None,
        "cpu_ratio": cpu_ms * reference.runs / (reference.cpu_s * 1e3) or None,
        "faults_ratio": faults * reference.runs / reference.faults or None,
        "costs": sample.costs,
        "phases": phases_of(sample.metrics),
        "failed": sample.failed,
        "trouble": sample.trouble,
        "programs": programs,
    }


def phases_of(metrics):
    return {
        phase: statistics.median(one[phase] for one in metrics) for phase in report.PHASES
    } if metrics else None


# ---- many clients --------------------------------------------------------------------------------


def client_counts():
    counts, processors = [1], os.cpu_count()
    while counts[-1] < CLIENTS_MOST * processors:
        counts.append(min(counts[-1] * 2, CLIENTS_MOST * processors))
    return counts


def measure_load(bench, set_):
    """Points in random order, each in a few slices, so that a neighbour's noise meets all alike."""
    slice_s = bench.options.seconds / SLICES
    counts = client_counts()
    closed = {(daemon, count): [] for daemon in bench.daemons for count in counts}
    for _ in range(SLICES):
        for daemon, count in random.sample(list(closed), len(closed)):
            closed[daemon, count].append(
                load.closed_loop(daemon, set_.programs, set_.runtime, count, slice_s)
            )
    rows = {point: closed_row(point[1], slices) for point, slices in closed.items()}
    best = {
        daemon: max(1, *(rows[daemon, count]["runs_per_s"] for count in counts))
        for daemon in bench.daemons
    }
    open_ = {(daemon, part): [] for daemon in bench.daemons for part in OPEN_PARTS}
    for _ in range(SLICES):
        for daemon, part in random.sample(list(open_), len(open_)):
            open_[daemon, part].append(load.open_loop(
                daemon, set_.programs, set_.runtime, counts[-1], best[daemon] * part, slice_s
            ))
    return {
        daemon.name: {
            "closed": [rows[daemon, count] for count in counts],
            "open": [
                open_row(part, best[daemon] * part, open_[daemon, part]) for part in OPEN_PARTS
            ],
        }
        for daemon in bench.daemons
    }


def load_row(latencies_s, failures, **more):
    times = percentiles([took_s * 1e3 for some in latencies_s for took_s in some])
    return {**more, **times, "failed": sum(failures)}


def closed_row(clients, slices):
    rates, latencies_s, failures = zip(*slices)
    return load_row(latencies_s, failures, clients=clients, runs_per_s=statistics.mean(rates))


def open_row(part, rate, slices):
    return load_row(*zip(*slices), part=part, runs_per_s=rate)


# ---- the whole -----------------------------------------------------------------------------------


def wanted_sets(bench):
    options = bench.options
    for name in options.set or SETS:
        set_ = Set(name, options.language, options.only)
        missing = not all(set_.runtime in daemon.runtimes for daemon in bench.daemons)
        if missing and (set_.programs or options.set):
            print(f"{name}: left out: the daemon has no runtime {set_.runtime}")
        elif set_.programs:
            yield set_
        elif options.set:
            print(f"{name}: left out: it has no such programs in {options.language}")


def measure(options, folder):
    bench = Bench(options, folder)
    result = {
        "kernel": platform.release(), "processors": os.cpu_count(), "language": options.language,
        "sets": {}, "load": {},
    }
    for set_ in list(wanted_sets(bench)):
        measured = result["sets"][set_.name] = measure_set(bench, set_)
        report.print_set(set_.name, measured, options.details)
        if set_.name == "programs" and options.seconds > 0:
            result["load"] = measure_load(bench, set_)
            report.print_load(result["load"])
        sys.stdout.flush()
    return result


def failures(result):
    ways = sum(row["failed"] for one in result["sets"].values() for row in one["ways"].values())
    loops = [rows for loops in result["load"].values() for rows in loops.values()]
    return ways + sum(row["failed"] for rows in loops for row in rows)


def read_options():
    parser = argparse.ArgumentParser(prog="./dev bench programs", description=(
        "Runs programs like an agent's in ced and in every other way that is installed, in turn."
    ))
    parser.add_argument("--daemon", action="append", required=True, metavar="[NAME=]SOCKET:PID",
                        help="a daemon and its spawner's pid; several are compared")
    parser.add_argument("--language", choices=ENDINGS, default="python")
    parser.add_argument("--set", action="append", choices=SETS, help="only this set (several)")
    parser.add_argument("--only", metavar="WORD", default="", help="only programs with this name")
    parser.add_argument("--rounds", type=int, default=10, help="runs of each program (10)")
    parser.add_argument("--seconds", type=float, default=3,
                        help="for each number of clients (3); 0 leaves many clients out")
    parser.add_argument("--without", action="append", default=[], metavar="JAIL",
                        help="leave out bubblewrap, firejail, crun or runc")
    parser.add_argument("--state", metavar="FOLDER",
                        help="where a sync is measured; else in the daemon's state folder")
    parser.add_argument("--details", action="store_true",
                        help="each program also in other jails")
    parser.add_argument("--json", metavar="FILE", help="write everything that was measured")
    parser.add_argument("--svg", metavar="FILE", help="draw each way's p50 and p99")
    parser.add_argument("--compare", metavar="FILE",
                        help="exit with 1 if a ratio is worse than in this earlier --json")
    parser.add_argument("--percent", type=float, default=10, help="how much worse (10)")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds wants at least 1")
    return options


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    options = read_options()
    before = comparison.earlier(options.compare, options.language) if options.compare else None
    with tempfile.TemporaryDirectory(prefix="ced-bench.") as folder:
        result = measure(options, folder)
    if not result["sets"]:
        print("nothing was measured")
        return 1
    if options.json:
        write(options.json, json.dumps(result, indent=1))
    if options.svg:
        write(options.svg, chart.svg_of(result))
    status = 1 if failures(result) else 0
    if before:
        status = comparison.compare(result, before, options.percent) or status
    return status


if __name__ == "__main__":
    sys.exit(main())
