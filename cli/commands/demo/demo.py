"""The guided tour of `cectl demo`: four programs that really run, through cectl.

CECTL names the program.  --passing says that the daemon ends with the tour, --json asks for one
document.  Exits with 1 when a program did not end as the tour says, and as cectl does when cectl
cannot go on.
"""

import json
import os
import shutil
import subprocess
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
CECTL = os.environ.get("CECTL", "cectl")
FLOOD_BYTES = 65536
MEMORY_BYTES = 64 << 20
WIDTH = min(shutil.get_terminal_size((80, 24)).columns, 100)
COLOR = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
BOLD, DIM, RED, GREEN = "1", "2", "31", "32"


def paint(code, text):
    return f"\033[{code}m{text}\033[m" if COLOR else text


def wrapped(text, indent=0):
    print(textwrap.fill(text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * indent))


def heading(title):
    print("\n" + paint(BOLD, f"── {title} " + "─" * max(0, WIDTH - len(title) - 4)))


def duration(us):
    for unit, size in (("s", 1_000_000), ("ms", 1000)):
        if us >= size:
            return f"{us / size:.3g} {unit}"
    return f"{us} us"


def code(name, marked=()):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            text = f"{'>' if number in marked else ' '} {number:3}  {line}".rstrip()
            print(paint(RED, text) if number in marked else text)


def show_brief(result):
    """Every word of the brief comes from the checked JSON, by way of the schema's own keys."""
    value = result["value"]
    incident = value["incident"]
    wrapped(f"{value['transactions']} transactions from {value['from']} to {value['to']}; "
            f"{value['failed']} failed ({value['failed'] / value['transactions']:.1%}).  "
            f"It was {incident['service']}, from {incident['from']} to {incident['to']}: "
            f"{incident['failed']} of {incident['transactions']} failed, the slowest took "
            f"{duration(incident['slowest_ms'] * 1000)}, "
            f"{incident['unpaid_cents'] / 100:.2f} went unpaid.", 2)
    print(f"\n  {'SERVICE':12} TRANSACTIONS  FAILED     p95")
    for row in value["services"]:
        line = (f"  {row['service']:12} {row['transactions']:12} {row['failed']:7} "
                f"{duration(row['p95_ms'] * 1000):>7}")
        print(paint(RED, line) if row["service"] == incident["service"] else line)


def show_denied(result):
    findings = result["policy"]["findings"]
    if not findings or result["ran"] != "no":
        raise KeyError("findings")
    for row in findings:
        wrapped(f"line {row['line']}, column {row['column']}: {row['message']} ({row['rule']})", 2)
    print()
    code("leak.py", [row["line"] for row in findings])


def show_flood(result):
    kept = len(result["stdout"])
    if kept != FLOOD_BYTES:
        raise KeyError("stdout")
    print(f"  kept    {kept:,} bytes, exactly the limit")
    print(f"  killed  {duration(result['evidence']['kill_us'])} after the byte that passed it")


def show_memory(result):
    evidence = result["evidence"]
    if evidence["limit_bytes"] != MEMORY_BYTES:
        raise KeyError("limit_bytes")
    print(f"  limit   64 MiB, held by {result['limits']['enforced_by']['memory_bytes']}")
    if "peak_bytes" in evidence:
        print(f"  peak    {evidence['peak_bytes'] / (1 << 20):.1f} MiB")
    if "oom_kills" in evidence:
        print(f"  kernel  out-of-memory kills: {evidence['oom_kills']}")


# title, what is said before, arguments of `cectl run`, how it must end, what is shown of the result
ACTS = [
    ("an answer to rely on",
     "An agent asks what 60 transactions say about an incident.  Its program gets them as input, "
     "and its output must be JSON that satisfies a schema.",
     ["incidents.py", "--input", "@transactions.json", "--schema", "brief.schema.json"],
     "ok", show_brief),
    ("a program that may not run",
     "This one would send customers' data away.  The policy reads it first.",
     ["leak.py", "--policy", "strict"], "policy_denied", show_denied),
    ("a program that floods",
     "It prints without end.  The limit is 64 KiB, and the daemon counts at its end of the pipe.",
     ["flood.py", "--limit", "stdout=64K"], "output_limit", show_flood),
    ("a program that eats memory",
     "It takes another megabyte, for ever.  The limit is 64 MiB.",
     ["memory.py", "--limit", "memory=64M"], "memory_limit", show_memory),
]


def run(arguments):
    """The result, or the end of the tour with cectl's own words and status."""
    done = subprocess.run([CECTL, "run", *arguments, "--agent", "demo", "--json"], cwd=HERE,
                          stdout=subprocess.PIPE, check=False)
    result = json.loads(done.stdout or b"{}")
    if "outcome" not in result:
        sys.exit(done.returncode or 1)
    return result


def play(number, act):
    """Whether it ended as the tour says, and the result."""
    title, story, arguments, expected, show = act
    heading(f"{number} of {len(ACTS)}  {title}")
    wrapped(story)
    print(paint(DIM, f"\n  $ cectl run {' '.join(arguments)}\n"))
    if expected in ("output_limit", "memory_limit"):
        code(arguments[0])
        print()
    sys.stdout.flush()
    result = run(arguments)
    outcome = result["outcome"]
    print(paint(GREEN if outcome == "ok" else RED, f"  {'✓' if outcome == 'ok' else '✗'} {outcome}")
          + f" in {duration(result['metrics']['total_us'])}"
          + paint(DIM, f"   run {result['run_id']}\n"))
    if outcome != expected:
        print(paint(RED, f"  This act should have ended as {expected}: {result.get('reason')}"))
        return False, result
    try:
        show(result)
    except KeyError as missing:
        print(paint(RED, f"  The result lacks what this act is about: {missing}"))
        return False, result
    return True, result


def show_record(run_id):
    """The first section of `cectl show`, and the timeline."""
    page = subprocess.run([CECTL, "show", run_id], stdout=subprocess.PIPE, check=False)
    if page.returncode == 0:
        print(page.stdout.decode().split("\n──")[0], flush=True)
        page = subprocess.run([CECTL, "trace", run_id], check=False)
    if page.returncode != 0:
        sys.exit(page.returncode)


def suggest(passing):
    heading("what to type next")
    if passing:
        print("  ./dev run                       a private daemon that stays, until Ctrl-C\n"
              "  and in another terminal:\n  export PATH=\"$PWD/build/release/bin:$PATH\"")
    elif os.environ.get("CED_SOCKET"):
        print(f"  export CED_SOCKET={os.environ['CED_SOCKET']}")
    print("  cectl run -c 'print(6 * 7)'     a program of yours\n"
          "  cectl show last                 its record: verdict, limits, times, output\n"
          "  cectl runs --since 1h           all that ran\n"
          "  cectl run --help                limits, files, schemas, exit codes")


def tour(passing):
    wrapped("ced runs programs that language models write, each in a jail of its own, and answers "
            "only when the run is on record.  Nothing here is staged: these four programs run now.")
    ends = [play(number, act) for number, act in enumerate(ACTS, 1)]
    heading("what the store knows about the first")
    show_record(ends[0][1]["run_id"])
    failed = sum(not good for good, _ in ends)
    if failed:
        sys.exit(f"cectl: {failed} of {len(ACTS)} acts did not end as announced")
    suggest(passing)


def document():
    acts = [{"title": act[0], "expected": act[3], "result": run(act[2])} for act in ACTS]
    good = all(act["result"]["outcome"] == act["expected"] for act in acts)
    print(json.dumps({"ok": good, "acts": acts}))
    sys.exit(0 if good else 1)


if "--json" in sys.argv[1:]:
    document()
tour("--passing" in sys.argv[1:])
