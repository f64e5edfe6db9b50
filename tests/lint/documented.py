"""Every word of the contract that the code's tables have stands in the page that explains it.

The tables are read from the sources: methods and the keys of their schemas, error codes and
reasons, outcomes with their evidence, limits, metrics, steps; settings with their defaults and
bounds, what is logged, and what cectl knows.  A table that is not found any more is a complaint
too, so that moving one does not end the watch over it.

In THREATS.md it is the other way round: each test that is named there must exist, down to its
sentence.

With --settings it prints the rows of OPERATIONS.md's tables of settings.
"""

import json
import pathlib
import re
import sys

PROTOCOL = pathlib.Path("docs/PROTOCOL.md")
OPERATIONS = pathlib.Path("docs/OPERATIONS.md")
THREATS = pathlib.Path("docs/THREATS.md")
SAMPLE = pathlib.Path("examples/ced.conf")
WORD = r"[A-Za-z_$][\w.$]*"

complaints = []


def source(*paths):
    return "\n".join(pathlib.Path(path).read_text(encoding="utf-8") for path in paths)


def table(what, pattern, *paths):
    """What a pattern finds in the sources, which must be something."""
    found = set(re.findall(pattern, source(*paths)))
    if not found:
        complaints.append(f"{', '.join(map(str, paths))}: the table of {what} is not there any more")
    return found


def schema(name):
    return json.loads(source(f"proto/method/schemas/{name}"))["properties"]


def words(page, heading):
    """The words below a heading, up to the next one of its rank or higher."""
    text = source(page)
    found = re.search(rf"^(#+) {re.escape(heading)}$", text, re.M)
    if not found:
        complaints.append(f"{page}: there is no section {heading}")
        return set()
    rest = text[found.end():]
    end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.M)
    return set(re.findall(WORD, rest[: end.start()] if end else rest))


def expect(page, heading, what, names, known=None):
    known = words(page, heading) if known is None else known
    for name in sorted(set(names) - known):
        complaints.append(f"{page}: {heading}: {what} {name} is not explained")


# ---- methods -------------------------------------------------------------------------------------

METHODS = table("methods", r'\{ METHOD_\w+, +"([\w.]+)", +METHOD_\w+, +"([\w.]+)"', "proto/method/method.c")
RIGHTS = {word: [{"NO": "–", "OWN": "own", "YES": "yes"}[right.strip()] for right in rights.split(",")]
          for word, rights in table("rights", r"(METHOD_\w+) = METHOD_WHO\(([\w, ]+)\)", "proto/method/method.h")}
# What one section says by pointing at another.
BESIDE = {"check": "run", "stats": "runs.list"}

expect(PROTOCOL, "Methods", "the method", {name for name, _ in METHODS})

# The page's matrix of roles is the table's, cell by cell.
told = {}
for line in source(PROTOCOL).splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if len(cells) == 5 and cells[1] in ("–", "own", "yes"):
        told.update({name: cells[1:4] for name in re.findall(r"`([\w.]+)`", cells[0])})
for method, who in sorted(table("rights of methods", r'\{ METHOD_\w+, +"([\w.]+)", +(METHOD_\w+),', "proto/method/method.c")):
    if told.get(method) != RIGHTS.get(who):
        complaints.append(f"{PROTOCOL}: Methods: {method} is for user, approver, admin: {RIGHTS.get(who)}, not {told.get(method)}")

for method, file in sorted(METHODS):
    below = words(PROTOCOL, method)
    if method in BESIDE:
        below |= words(PROTOCOL, BESIDE[method])
    expect(PROTOCOL, method, "the key", schema(file), below)

expect(PROTOCOL, "The run.output notification", "the key",
       table("notifications", r'value_map_put\(\s*&arena, params, "(\w+)"', "daemon/door/notice.c"))
expect(PROTOCOL, "The run.started notification", "the key",
       table("announcements", r'value_map_put\(\s*&arena, started, "(\w+)"', "daemon/door/notice.c"))
expect(PROTOCOL, "hello", "the key",
       table("greetings", r'value_map_put\(\s*arena, (?:map|you), "(\w+)"', "daemon/methods/methods_hello.c"))
expect(PROTOCOL, "runtimes", "the key",
       table("runtimes", r'value_map_put\(\s*arena, map, "(\w+)"', "daemon/workers/runtime.c"))
expect(PROTOCOL, "admin.status", "the key",
       table("the state", r'value_map_put\(\s*arena, map, "(\w+)"', "daemon/methods/methods_status.c"))
expect(PROTOCOL, "runs.list", "the key",
       table("lists", r'fetch_\w+\(&fill, "(\w+)"', "store/read/run_list.c"))

# ---- errors --------------------------------------------------------------------------------------

expect(PROTOCOL, "Errors", "the code", table("codes", r'X\([A-Z_]+, "(\w+)",', "proto/wire/rpc.h"))
for what, pattern, paths in (
    ("refusals", r'job_refuse\(\s*reader, (?:&?\w+), "(\w+)"', ("proto/job/job_spec.c", "proto/job/job_inputs.c")),
    ("complaints", r'complain\([^;"]*?"(\w+)"', ("proto/schema/schema_check.c",)),
    ("envelopes", r'refuse\(ret_fault, err, "(\w+)"', ("proto/wire/rpc.c",)),
    ("messages", r'refuse\(dec, \w+, "(\w+)"', ("proto/wire/wire_decode.c",)),
    ("connections", r'refuse\([^;"]*?"(\w+)"', ("daemon/door/conn_read.c",)),
):
    expect(PROTOCOL, "Errors", "the reason", table(what, pattern, *paths))

# ---- results -------------------------------------------------------------------------------------

OUTCOMES = table("outcomes", r'\[OUTCOME_\w+\] = "(\w+)"', "proto/job/job.c") - {"none"}
LIMITS = table("limits", r"\n\tX\((\w+_\w+|pids|inodes), ", "proto/job/job.h")
APART = {"inspector", "policy", "redact"}  # rooms with a table of their own, or none
DAEMON = sorted(path for path in pathlib.Path("daemon").rglob("*.c") if path.parts[1] not in APART)

expect(PROTOCOL, "The result", "the key", schema("result.json"))
expect(PROTOCOL, "Outcomes", "the outcome", OUTCOMES)
expect(PROTOCOL, "Evidence", "the evidence",
       table("evidence", r'note_(?:int|text)\(j, "(\w+)"', "daemon/runs/outcome.c"))
expect(PROTOCOL, "Limits and who held them", "the limit", LIMITS)
expect(PROTOCOL, "Metrics", "the metric",
       table("metrics", r"PUT_METRIC\((\w+)\);", "proto/job/job_result.c"))
expect(PROTOCOL, "Trace", "the step",
       table("steps", r'request_step\(\s*request, "([\w.]+)"', *DAEMON))
expect(PROTOCOL, "The output contract", "the keyword",
       table("keywords", r'(?:ROW|NOTE)\([^"\n]*"([$\w]+)"', "proto/schema/schema.c"))

# Lists may be asked for these outcomes, and for what has none yet.
for name in "runs.list.json", "stats.json":
    if set(schema(name)["outcome"]["enum"]) != OUTCOMES | {"running"}:
        complaints.append(f"proto/method/schemas/{name}: its outcomes are not those of proto/job/job.c")
if set(schema("result.json")["outcome"]["enum"]) != OUTCOMES:
    complaints.append("proto/method/schemas/result.json: its outcomes are not those of proto/job/job.c")

# ---- settings ------------------------------------------------------------------------------------

SIZES = {"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10}
TIMES = {"h": 3600000, "min": 60000, "s": 1000}


def number(text):
    """A number as config_table.h writes it: 16 * MIB, 256 << 10."""
    return eval(text.replace("MIB", str(1 << 20)).replace("GIB", str(1 << 30)), {"__builtins__": {}})


def shown(name, value):
    """The same as the page writes it: 16 MiB, 30 s."""
    if not (name.endswith("_ms") or "_bytes" in name) or not value:
        return str(value)
    for unit, size in (TIMES if name.endswith("_ms") else SIZES).items():
        if value % size == 0:
            return f"{value // size} {unit}"
    return f"{value} ms" if name.endswith("_ms") else f"{value} B"


def rows(macro, columns):
    """The rows of one X() table: names and numbers as texts, the meaning last."""
    text = source("daemon/settings/config_table.h").partition(f"#define {macro}(X)")[2].partition("\n\n")[0]
    found = re.findall(r"X\((\w+), +" + r"([^,]+), +" * columns + r'"([^"]*)"\)', text)
    if not found:
        complaints.append(f"daemon/settings/config_table.h: {macro} is not there any more")
    return found


def setting_rows():
    for name, otherwise, lowest, highest, meaning in rows("CONFIG_NUMBERS", 3):
        bounds = " | ".join(shown(name, number(text)) for text in (otherwise, lowest, highest))
        yield name, f"| `{name}` | {bounds} | {meaning} |"
    for name, otherwise, most, lowest, highest, meaning in rows("CONFIG_LIMITS", 4):
        bounds = " | ".join(shown(name, number(text)) for text in (otherwise, most, lowest, highest))
        yield name, f"| `{name}` | {bounds} | {meaning} |"
    for name, otherwise, meaning in rows("CONFIG_TEXTS", 1):
        yield name, f"| `{name}` | `{otherwise}` | {meaning} |"


SETTINGS = list(setting_rows())
if "--settings" in sys.argv:
    print("\n".join(row for _, row in SETTINGS))
    sys.exit()

page = source(OPERATIONS)
sample = source(SAMPLE)
for name, row in SETTINGS:
    if row not in page:
        complaints.append(f"{OPERATIONS}: this row is not in it: {row}")
    if not re.search(rf"^\s*{name}\s*=", sample, re.M):
        complaints.append(f"{SAMPLE}: the setting {name} is not in it")
for name in table("sections", r'\{ "(\w+)", +KEY_\w+', *sorted(pathlib.Path("daemon/settings").glob("config*.[ch]"))):
    if f"`{name}`" not in page:
        complaints.append(f"{OPERATIONS}: the setting {name} is not explained")

# ---- what an administrator meets -----------------------------------------------------------------

POLICY = sorted(pathlib.Path("daemon/policy").glob("*.c"))
SANDBOX = sorted(pathlib.Path("sandbox").glob("*.c"))

expect(OPERATIONS, "The log", "the event",
       table("log lines", r'LOG_LEVEL_(?:ERROR|WARNING|NOTICE|INFO), "([\w.]+)"', *DAEMON, *POLICY)
       | table("spawner's lines", r'say\(SAY_\w+, "([\w.]+)"', *SANDBOX))
expect(OPERATIONS, "cectl", "the command",
       table("commands", r'\.name = "(\w+)"', *sorted(pathlib.Path("cli/commands").glob("*.c"))))

# ---- tests that are named ------------------------------------------------------------------------


def sources_of(test):
    """Where a test of this name is written, and the files beside it that it runs."""
    label, _, name = test.partition(".")
    patterns = {
        "unit": [f"tests/unit/test_{name}.c"],
        "cases": [f"tests/cases/cases_{name}.c"],
        "fuzz": [f"tests/fuzz/fuzz_{name}.c"],
        "scenario": [f"tests/scenario/{name}.t"],
        "vm": [f"tests/vm/{name}.t"],
        "lint": [f"tests/lint/{name}.py", f"tests/lint/{name}.sh"],
        "jail": [f"tests/jail/jail_{name}.t", *({"spawner": ["tests/jail/spawner_*.c"], "worker": ["tests/jail/warm_ends.py"]}.get(name, []))],
    }
    found = [path for pattern in patterns.get(label, []) for path in pathlib.Path().glob(pattern)]
    return found if any(path.suffix != ".py" or label == "lint" for path in found) else []


NAMED = re.findall(r"`((?:unit|cases|fuzz|scenario|vm|lint|jail)\.[\w-]+)(?:: (\w+))?`", source(THREATS))
for test, sentence in NAMED:
    files = sources_of(test)
    if not files:
        complaints.append(f"{THREATS}: there is no test {test}")
    elif sentence and not re.search(rf"\b{sentence}\b", source(*files)):
        complaints.append(f"{THREATS}: {test} does not say {sentence}")
if not NAMED:
    complaints.append(f"{THREATS}: it names no test")

print("\n".join(complaints) or f"documented: ok, {len(METHODS)} methods, {len(OUTCOMES)} outcomes, {len(LIMITS)} limits")
sys.exit(bool(complaints))
