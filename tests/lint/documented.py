"""Every word of the contract that the code's tables have stands in the page that explains it.

The tables are read from the sources: methods and the keys of their schemas, error codes and
reasons, outcomes with their evidence, limits, metrics, steps.  A table that is not found any more
is a complaint too, so that moving one does not end the watch over it.
"""

import json
import pathlib
import re
import sys

PROTOCOL = pathlib.Path("docs/PROTOCOL.md")
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
    return json.loads(source(f"proto/schemas/{name}"))["properties"]


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

METHODS = table("methods", r'\{ METHOD_\w+, +"([\w.]+)", +METHOD_\w+, +"([\w.]+)"', "proto/method.c")
# What one section says by pointing at another.
BESIDE = {"check": "run", "stats": "runs.list"}

expect(PROTOCOL, "Methods", "the method", {name for name, _ in METHODS})
for method, file in sorted(METHODS):
    below = words(PROTOCOL, method)
    if method in BESIDE:
        below |= words(PROTOCOL, BESIDE[method])
    expect(PROTOCOL, method, "the key", schema(file), below)

expect(PROTOCOL, "The run.output notification", "the key",
       table("notifications", r'value_map_put\(arena, params, "(\w+)"', "daemon/stage_worker.c"))
expect(PROTOCOL, "hello", "the key",
       table("greetings", r'value_map_put\(\s*arena, (?:map|you), "(\w+)"', "daemon/methods.c"))
expect(PROTOCOL, "runtimes", "the key",
       table("runtimes", r'value_map_put\(\s*arena, map, "(\w+)"', "daemon/pool.c"))
expect(PROTOCOL, "admin.status", "the key",
       table("the state", r'value_map_put\(\s*arena, map, "(\w+)"', "daemon/methods_store.c"))
expect(PROTOCOL, "runs.list", "the key",
       table("lists", r'fetch_\w+\(&fill, "(\w+)"', "store/query.c"))

# ---- errors --------------------------------------------------------------------------------------

expect(PROTOCOL, "Errors", "the code", table("codes", r'X\([A-Z_]+, "(\w+)",', "proto/rpc.h"))
for what, pattern, paths in (
    ("refusals", r'job_refuse\(\s*reader, (?:&?\w+), "(\w+)"', ("proto/job_spec.c", "proto/job_inputs.c")),
    ("complaints", r'complain\([^;"]*?"(\w+)"', ("proto/schema_check.c",)),
    ("envelopes", r'refuse\(ret_fault, err, "(\w+)"', ("proto/rpc.c",)),
    ("messages", r'refuse\(dec, \w+, "(\w+)"', ("proto/wire_decode.c",)),
    ("connections", r'refuse\([^;"]*?"(\w+)"', ("daemon/conn.c",)),
):
    expect(PROTOCOL, "Errors", "the reason", table(what, pattern, *paths))

# ---- results -------------------------------------------------------------------------------------

OUTCOMES = table("outcomes", r'\[OUTCOME_\w+\] = "(\w+)"', "proto/job.c") - {"none"}
LIMITS = table("limits", r"\n\tX\((\w+_\w+|pids|inodes), ", "proto/job.h")
DAEMON = sorted(pathlib.Path("daemon").glob("*.c"))

expect(PROTOCOL, "The result", "the key", schema("result.json"))
expect(PROTOCOL, "Outcomes", "the outcome", OUTCOMES)
expect(PROTOCOL, "Evidence", "the evidence",
       table("evidence", r'note_(?:int|text)\(j, "(\w+)"', "daemon/outcome.c"))
expect(PROTOCOL, "Limits and who held them", "the limit", LIMITS)
expect(PROTOCOL, "Metrics", "the metric",
       table("metrics", r"PUT_METRIC\((\w+)\);", "proto/job_result.c"))
expect(PROTOCOL, "Trace", "the step",
       table("steps", r'request_step\(\s*request, "([\w.]+)"', *DAEMON))
expect(PROTOCOL, "The output contract", "the keyword",
       table("keywords", r'(?:ROW|NOTE)\("([$\w]+)"', "proto/schema.c"))

# Lists may be asked for these outcomes, and for what has none yet.
for name in "runs.list.json", "stats.json":
    if set(schema(name)["outcome"]["enum"]) != OUTCOMES | {"running"}:
        complaints.append(f"proto/schemas/{name}: its outcomes are not those of proto/job.c")
if set(schema("result.json")["outcome"]["enum"]) != OUTCOMES:
    complaints.append("proto/schemas/result.json: its outcomes are not those of proto/job.c")

print("\n".join(complaints) or f"documented: ok, {len(METHODS)} methods, {len(OUTCOMES)} outcomes, {len(LIMITS)} limits")
sys.exit(bool(complaints))
