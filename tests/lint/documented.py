"""The pages explain every word of the contract that the code's tables have, with the same numbers.

Reads the tables from the sources: methods, the keys of their schemas and which are required, error
codes and reasons, outcomes with their evidence, limits, ceilings, metrics, steps, stages with the
stages that follow; settings with defaults and bounds; events of the log; commands of cectl.  A
table that is not found is a complaint too, so that moving one does not end its check.

THREATS.md and ATTACKS.md are checked the other way round: each test that they name must exist, down to
its sentence.

With --write-settings it writes the rows of the tables in docs/operations/settings.md and the
comments of examples/ced.conf anew.
"""

import json
import pathlib
import re
import sys

PROTOCOL = pathlib.Path("docs/PROTOCOL.md")
SETTINGS_PAGE = pathlib.Path("docs/operations/settings.md")
RUNBOOK = pathlib.Path("docs/operations/runbook.md")
COMMANDS = pathlib.Path("docs/operations/cectl.md")
THREATS = pathlib.Path("docs/THREATS.md")
ATTACKS = pathlib.Path("docs/ATTACKS.md")
ARCHITECTURE = pathlib.Path("docs/ARCHITECTURE.md")
METHOD_TABLE = pathlib.Path("proto/method/method_table.h")
SAMPLE = pathlib.Path("examples/ced.conf")
WORD = r"[A-Za-z_$][\w.$]*"

complaints = []


def source(*paths):
    return "\n".join(pathlib.Path(path).read_text(encoding="utf-8") for path in paths)


def table(what, pattern, *paths):
    """The matches of a pattern in the sources, of which there must be some."""
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

METHODS = table("methods", r'X\(\w+, +"([\w.]+)", +\w+, +"([\w.]+)"', METHOD_TABLE)
RIGHTS = {word: [{"NO": "–", "OWN": "own", "YES": "yes"}[right.strip()] for right in rights.split(",")]
          for word, rights in table("rights", r"METHOD_(\w+) = METHOD_WHO\(([\w, ]+)\)", "proto/method/method.h")}
# A section that refers to another for its keys.
BESIDE = {"check": "run", "stats": "runs.list"}

expect(PROTOCOL, "Methods", "the method", {name for name, _ in METHODS})

# The page's matrix of roles is the table's, cell by cell.
told = {}
for line in source(PROTOCOL).splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if len(cells) == 5 and cells[1] in ("–", "own", "yes"):
        told.update({name: cells[1:4] for name in re.findall(r"`([\w.]+)`", cells[0])})
for method, who in sorted(table("rights of methods", r'X\(\w+, +"([\w.]+)", +(\w+),', METHOD_TABLE)):
    if told.get(method) != RIGHTS.get(who):
        complaints.append(f"{PROTOCOL}: Methods: {method} is for user, approver, admin: {RIGHTS.get(who)}, not {told.get(method)}")

for method, file in sorted(METHODS):
    below = words(PROTOCOL, method)
    if method in BESIDE:
        below |= words(PROTOCOL, BESIDE[method])
    expect(PROTOCOL, method, "the key", schema(file), below)


def section(page, heading):
    """The text below a heading, up to the next one of any rank."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", source(page), re.M | re.S)
    return found[1] if found else ""


def params_of(method):
    """(keys, whether the row says that they are required) of each row of a method's table of params."""
    table_text = re.search(r"^\| param \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", section(PROTOCOL, method), re.M)
    for row in table_text[1].splitlines() if table_text else ():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip("|"))]
        yield [key.rstrip("?") for key in re.findall(r"`([\w.?]+)`", cells[0])], any(cell.endswith("required") for cell in cells[1:3])


# A row for a key that the schema does not have would be a lie, and so would a wrong "required".
for method, file in sorted(METHODS):
    contract = json.loads(source(f"proto/method/schemas/{file}"))
    needed = set(contract.get("required", []))
    for keys, required in params_of(method):
        for key in keys:
            if key not in contract["properties"]:
                complaints.append(f"{PROTOCOL}: {method}: {file} has no key {key}")
            elif len(keys) == 1 and required != (key in needed):
                complaints.append(f"{PROTOCOL}: {method}: {key} is {'' if key in needed else 'not '}required by {file}")

expect(PROTOCOL, "The run.output notification", "the key",
       table("notifications", r'value_map_put\(\s*&arena, params, "(\w+)"', "daemon/door/notification.c"))
expect(PROTOCOL, "The run.display notification", "the key",
       table("displays", r'value_map_put\(\s*&arena, shown, "(\w+)"', "daemon/door/notification.c"))
expect(PROTOCOL, "The run.started notification", "the key",
       table("announcements", r'value_map_put\(\s*&arena, started, "(\w+)"', "daemon/door/notification.c"))
expect(PROTOCOL, "The run.call notification", "the key",
       table("calls", r'value_map_put\(\s*&arena, asked, "(\w+)"', "daemon/door/notification.c"))
expect(PROTOCOL, "The run.call_asked notification", "the key",
       table("calls that wait", r'value_map_put\(\s*&arena, waits, "(\w+)"', "daemon/door/notification.c"))
expect(PROTOCOL, "The run.call_over notification", "the key",
       table("ends of calls", r'value_map_put\(\s*&arena, over, "(\w+)"', "daemon/door/notification.c"))
expect(PROTOCOL, "hello", "the key",
       table("greetings", r'fill_\w+\(\s*&(?:map|you), "(\w+)"', "daemon/methods/methods_hello.c"))
expect(PROTOCOL, "runtimes", "the key",
       table("runtimes", r'value_map_put\(\s*arena, map, "(\w+)"', "daemon/workers/runtime.c"))
expect(PROTOCOL, "admin.status", "the key",
       table("the state", r'fill_\w+\(\s*&map, "(\w+)"', "daemon/methods/methods_status.c"))
expect(PROTOCOL, "runs.list", "the key",
       table("lists", r'(?:\br\.\w+ AS |\br\.)(\w+)(?=[,"])', "store/read/run_list.c"))

# ---- errors --------------------------------------------------------------------------------------

expect(PROTOCOL, "Errors", "the code", table("codes", r'X\([A-Z_]+, "(\w+)",', "proto/wire/rpc.h"))
for what, pattern, paths in (
    ("refusals", r'job_refuse\(\s*reader, (?:&?\w+), "(\w+)"', ("proto/job/job_spec.c",)),
    ("complaints", r'complain\([^;"]*?"(\w+)"', ("proto/schema/schema_check.c",)),
    ("envelopes", r'refuse\(ret_fault, err, "(\w+)"', ("proto/wire/rpc.c",)),
    ("messages", r'refuse\(dec, \w+, "(\w+)"', ("proto/wire/wire_decode.c",)),
    ("connections", r'refuse\([^;"]*?"(\w+)"', ("daemon/door/conn.c",)),
):
    expect(PROTOCOL, "Errors", "the reason", table(what, pattern, *paths))

# ---- stages --------------------------------------------------------------------------------------

# The page's table of stages is that of the code, with the stages that follow each.
STAGES = {name: {stage.lower() for stage in re.findall(r"TO\((\w+)\)", row)} for name, row in
          table("stages", r'\[STAGE_\w+\]\s*=\s*\{\s*"(\w+)"([^}]*)\}', "daemon/request/pipeline.c")}
PICTURED = {name: set(re.findall(r"`(\w+)`", follows)) for name, follows in
            re.findall(r"^\| `(\w+)` \|.*\|(.*)\|$", section(ARCHITECTURE, "The stages"), re.M)}
for name in sorted(set(STAGES) | set(PICTURED)):
    if STAGES.get(name) != PICTURED.get(name):
        complaints.append(f"{ARCHITECTURE}: The stages: {name} continues to {STAGES.get(name)}, not {PICTURED.get(name)}")

# ---- results -------------------------------------------------------------------------------------

OUTCOMES = table("outcomes", r'\[OUTCOME_\w+\] = "(\w+)"', "proto/job/job.c") - {"none"}
LIMITS = table("limits", r"\n\tX\((\w+_\w+|pids|inodes|calls), ", "proto/job/job.h")
APART = {"inspector", "policy", "redact"}  # rooms with a table of their own, or none
DAEMON = sorted(path for path in pathlib.Path("daemon").rglob("*.c") if path.parts[1] not in APART)

expect(PROTOCOL, "The result", "the key", schema("result.json"))
expect(PROTOCOL, "Outcomes", "the outcome", OUTCOMES)
expect(PROTOCOL, "Evidence", "the evidence",
       table("evidence", r'note_(?:int|text)\(j, "(\w+)"', "daemon/runs/outcome.c"))
expect(PROTOCOL, "Limits and what enforced them", "the limit", LIMITS)
expect(PROTOCOL, "Metrics", "the metric",
       table("metrics", r"PUT_METRIC\((\w+)\);", "proto/job/job_result.c"))
expect(PROTOCOL, "Trace", "the step",
       table("steps", r'request_step\(\s*request, "([\w.]+)"', *DAEMON))
expect(PROTOCOL, "The output contract", "the keyword",
       table("keywords", r'(?:ROW|BOUND|NOTE)\([^"\n]*"([$\w]+)"', "proto/schema/schema_compiler.c"))

# Lists can be filtered by these outcomes, and by runs without one.
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
    for name, otherwise, lowest, highest, change, meaning in rows("CONFIG_NUMBERS", 4):
        bounds = " | ".join(shown(name, number(text)) for text in (otherwise, lowest, highest))
        yield name, f"| `{name}` | {bounds} | {change.lower()} | {meaning} |"
    for name, otherwise, most, lowest, highest, meaning in rows("CONFIG_LIMITS", 4):
        bounds = " | ".join(shown(name, number(text)) for text in (otherwise, most, lowest, highest))
        yield name, f"| `{name}` | {bounds} | {meaning} |"
    for name, otherwise, _, change, meaning in rows("CONFIG_TEXTS", 3):
        yield name, f"| `{name}` | `{otherwise}` | {change.lower()} | {meaning} |"


def write_settings(rows):
    """Replaces the rows of the page in its order: a name may stand in two tables, as a limit of both."""
    lines = SETTINGS_PAGE.read_text(encoding="utf-8").split("\n")
    for name, row in rows:
        cells = row.count(" | ")
        lines = [row if line.startswith(f"| `{name}` |") and line.count(" | ") == cells else line
                 for line in lines]
    SETTINGS_PAGE.write_text("\n".join(lines), encoding="utf-8")


def write_sample():
    """Gives each setting of the sample that has a comment its meaning as that comment."""
    meanings = {name: meaning for name, *_, meaning in rows("CONFIG_NUMBERS", 4) + rows("CONFIG_TEXTS", 3)}

    def commented(line):
        found = re.match(r"((\w+) *= *[^#{]*?) *#", line)
        return f"{found[1]:<32} # {meanings[found[2]]}" if found and found[2] in meanings else line

    lines = SAMPLE.read_text(encoding="utf-8").split("\n")
    SAMPLE.write_text("\n".join(map(commented, lines)), encoding="utf-8")


SETTINGS = list(setting_rows())
if "--write-settings" in sys.argv:
    write_settings(SETTINGS)
    write_sample()
    sys.exit()

page = source(SETTINGS_PAGE)
sample = source(SAMPLE)
for name, row in SETTINGS:
    if row not in page:
        complaints.append(f"{SETTINGS_PAGE}: this row is not in it: {row}")
    if not re.search(rf"^\s*{name}\s*=", sample, re.M):
        complaints.append(f"{SAMPLE}: the setting {name} is not in it")
SETTING_ROW = (r'(?:\.name = "|(?:ROLE|NAMED|SECTION)\((?:of,[\s\\]*)?"|\b(?:FIELD|WORDS)\(|SETTING_\w+_OF\(\w+, )'
               r"(?!field\b)(\w+)")
for name in table("sections", SETTING_ROW, *sorted(pathlib.Path("daemon/settings").glob("config*.[ch]"))):
    if f"`{name}`" not in page:
        complaints.append(f"{SETTINGS_PAGE}: the setting {name} is not explained")

# The reference's numbers: of each limit what a run gets, the most and the least; of each ceiling the default.
for name, otherwise, most, lowest, *_ in rows("CONFIG_LIMITS", 4):
    wanted = [shown(name, number(text)) if "_bytes" in name else str(number(text)) for text in (otherwise, most, lowest)]
    if name == "file_bytes":
        wanted[0] = "as `disk_bytes`"
    if f"| `{name}` | {' | '.join(wanted)} |" not in source(PROTOCOL):
        complaints.append(f"{PROTOCOL}: the row of the limit {name} is not {' | '.join(wanted)}")
ceilings = section(PROTOCOL, "Ceilings")
for name, otherwise, *_ in rows("CONFIG_NUMBERS", 4):
    for written in re.findall(rf"`{name}`,? (\d+(?: [A-Za-z]+)?)", ceilings):
        if written != shown(name, number(otherwise)):
            complaints.append(f"{PROTOCOL}: Ceilings: {name} is {shown(name, number(otherwise))}, not {written}")

# ---- log events and commands ---------------------------------------------------------------------

POLICY = sorted(pathlib.Path("daemon/policy").glob("*.c"))
SANDBOX = sorted(pathlib.Path("sandbox").rglob("*.c"))

expect(RUNBOOK, "The log", "the event",
       table("log lines", r'LOG_LEVEL_(?:ERROR|WARNING|NOTICE|INFO), "([\w.]+)"', *DAEMON, *POLICY)
       | table("spawner's lines", r'say\(SAY_\w+, "([\w.]+)"', *SANDBOX))
expect(COMMANDS, "Commands", "the command",
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

TRIED = re.findall(r"^\|[^|]+\| (\d{3}) \| (.+) \|$", source(ATTACKS), re.M)
for number, check in TRIED:
    files = sorted(pathlib.Path("tests/scenario").glob(f"{number}-*"))
    if check not in source(*files):
        complaints.append(f"{ATTACKS}: no check of scenario {number} says: {check}")
if len(TRIED) < 100:
    complaints.append(f"{ATTACKS}: it has only {len(TRIED)} checks")

# ---- alerts and parts of health ---------------------------------------------------------------

RUNBOOK = "docs/operations/runbook.md"
MONITORING = "docs/operations/monitoring.md"
ALERTS = table("alerts", r"- alert: (\w+)", "examples/monitoring/ced.rules.yml")
PARTS = table("parts of health", r'\n\t\{ "(\w+)", HEALTH_', "daemon/methods/health.c")
expect(RUNBOOK, "Each alert", "the alert", ALERTS)
expect(RUNBOOK, "Each alert", "the part of health", PARTS)
expect(MONITORING, "Alerts about the daemon", "the alert", ALERTS)
expect(MONITORING, "One word", "the part of health", PARTS)

print("\n".join(complaints) or f"documented: ok, {len(METHODS)} methods, {len(OUTCOMES)} outcomes, {len(LIMITS)} limits")
sys.exit(bool(complaints))
