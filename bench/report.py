"""The measured numbers as text in at most 100 columns."""

from costs import KINDS

PHASES = {
    "policy_us": "the verdict",
    "queue_us": "until a worker is taken",
    "start_us": "until the program begins",
    "exec_us": "the program",
    "collect_us": "pipes drained, counters read",
    "record_us": "the record",
    "total_us": "from the request to the record",
}


def share(ratio):
    """A ratio of times: 1/5.0 is five times as fast, 5.0x takes five times as long."""
    if ratio is None:
        return "-"
    return f"1/{1 / ratio:.1f}" if 1 / ratio >= 1.05 else f"{ratio:.1f}x"


def number(value, form):
    return "-" if value is None else format(value, form)


def heading(text):
    print(f"\n{text}\n{'-' * len(text)}")


def name_of(text, width):
    return text if len(text) <= width else text[: width - 1] + "~"


def print_floor(floor):
    if floor["sync"]:
        print(f"  a commit's sync in {floor['folder']}: p50 {floor['sync']['p50']:.3f} ms, "
              f"p99 {floor['sync']['p99']:.3f} ms")
    print(f"  one wake-up of a process and back: p50 {floor['wake']['p50']:.3f} ms, "
          f"p99 {floor['wake']['p99']:.3f} ms")
    if floor["warm"] is not None:
        print(f"  a warm Python without a jail: p50 {floor['warm']:.3f} ms")
    print(f"  together: {floor['sum']:.3f} ms")


ROW = "{:<22}{:>9}{:>9}{:>9}{:>11}{:>10}{:>9}{:>9}{:>9}"


def row_of(name, row, *more):
    return ROW.format(
        name_of(name, 21), *(f"{row[part]:.2f}" for part in ("p50", "p90", "p99")),
        share(row["ratio"]), share(row["ratio_bare"]), share(row["floors"]), *(more or ("", "")),
    ).rstrip()


def print_ways(measured):
    print(ROW.format("way", "p50 ms", "p90 ms", "p99 ms", "ratio", "bare", "floors",
                     "cpu ms", "faults"))
    for name, way in measured["ways"].items():
        print(row_of(name, way, number(way["cpu_ms"], ".2f"), number(way["faults"], ".0f")))
        if way["failed"]:
            print(f"  failed: {way['failed']} runs: {way['trouble']}")


def print_programs(measured, kinds):
    for name, way in measured["ways"].items():
        if way["kind"] not in kinds:
            continue
        print()
        print(ROW.format(name_of(name, 21), "p50 ms", "p90 ms", "p99 ms", "ratio", "bare",
                         "floors", "", "").rstrip())
        for program, row in way["programs"].items():
            print(row_of(program, row))


def print_costs(name, costs):
    print(f"\n{'where the cpu of ' + name + ' goes, a run':<40}{'cpu ms':>9}{'share':>8}"
          f"{'faults':>9}{'switches':>10}")
    whole = sum(kind["cpu_ms"] for kind in costs.values()) or 1
    for kind, told in KINDS.items():
        cost = costs[kind]
        print(f"{'  ' + told:<40}{cost['cpu_ms']:>9.3f}{cost['cpu_ms'] / whole:>8.0%}"
              f"{cost['faults']:>9.0f}{number(cost['switches'], '.1f'):>10}")


def print_phases(name, phases, floor):
    """Each phase with the part of the floor that lies in it."""
    sync_ms = floor["sync"]["p50"] if floor["sync"] else 0
    floors_ms = {
        "start_us": floor["wake"]["p50"],
        "record_us": sync_ms or None,
        "total_us": floor["sum"] - sync_ms,
    }
    print(f"\n{'phases that ' + name + ' reports':<48}{'p50 us':>9}{'floor us':>10}")
    for phase, told in PHASES.items():
        floor_ms = floors_ms.get(phase)
        floor_us = number(floor_ms and floor_ms * 1e3, ".0f")
        print(f"{'  ' + phase + ': ' + told:<48}{phases[phase]:>9.0f}{floor_us:>10}")


def print_set(name, measured, details):
    heading(f"{name}: {measured['what']}; {measured['rounds']} rounds of {measured['programs']}")
    print(f"ratio: the median of the programs' p50 beside {measured['reference']}; bare: beside it "
          "without\npackages; floors: in multiples of the floor, which is")
    print_floor(measured["floor"])
    print()
    print_ways(measured)
    for way, row in measured["ways"].items():
        if row["kind"] == "daemon":
            print_costs(way, row["costs"])
            if row["phases"]:
                print_phases(way, row["phases"], measured["floor"])
    everybody = ("interpreter", "warm", "daemon", "jail")
    print_programs(measured, everybody if details else ("interpreter", "daemon"))


def print_load(load):
    for name, loops in load.items():
        heading(f"{name} with many clients")
        form = "{:<34}{:>9}{:>9}{:>9}{:>9}{:>9}"
        print(form.format("closed loop", "runs/s", "p50 ms", "p90 ms", "p99 ms", "failed"))
        for row in loops["closed"]:
            print(load_row(form, f"  {row['clients']} client{'s' * (row['clients'] > 1)}", row))
        print(form.format("open loop, from when it was due", "runs/s", "", "", "", "").rstrip())
        for row in loops["open"]:
            print(load_row(form, f"  {row['part']:.0%} of the closed rate", row))


def load_row(form, name, row):
    times = (f"{row[part]:.2f}" for part in ("p50", "p90", "p99"))
    return form.format(name, f"{row['runs_per_s']:.0f}", *times, row["failed"])
