"""cectl's interface: each letter has one meaning, typos get a suggestion, status explains itself, tables fit."""

import json
import os
import re
import subprocess

from wire import Client, done, eq

LOOKS = dict(os.environ, COLUMNS="80")


def cectl(*words):
    process = subprocess.run(["cectl", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=LOOKS)
    return process.returncode, process.stdout, process.stderr


overview = cectl("--help")[1]
commands = [line.split("  ")[1].strip() for line in overview.splitlines() if re.match(r"  [a-z]", line)]
eq(len(commands) > 30, True, "the overview lists the commands")
letters = {}
for command in commands:
    for letter, name in re.findall(r"^  -(.), --([a-z-]+)", cectl(*command.split(), "--help")[1], re.M):
        letters.setdefault(letter, {}).setdefault(name, []).append(command)
eq({letter: names for letter, names in letters.items() if len(names) > 1}, {}, "a letter means the same option everywhere")
eq(set(letters["n"]), {"limit"}, "-n is how many")

for words, hint in (
    (["rnus"], "did you mean runs?"),
    (["audit", "verrify"], "did you mean audit verify?"),
    (["kil-all"], "did you mean kill-all?"),
    (["kill"], "did you mean cancel?"),
    (["kil", "last"], "did you mean cancel?"),
    (["ps"], "did you mean runs?"),
    (["ls"], "did you mean runs?"),
    (["list"], "did you mean runs?"),
    (["logs"], "did you mean runs?"),
    (["history"], "did you mean runs?"),
    (["version"], "did you mean --version?"),
    (["runs", "--outcom", "ok"], "did you mean --outcome?"),
    (["runs", "--outcome", "memory_limt"], "did you mean memory_limit?"),
    (["runs", "--columns", "outcom"], "did you mean outcome?"),
    (["run", "-c", "1", "-l", "pithon"], "did you mean python?"),
    (["run", "-c", "1", "-p", "strikt"], "did you mean strict?"),
    (["run", "-c", "1", "--on-output-limit", "trunkate"], "did you mean truncate?"),
    (["run", "-c", "1", "--limit", "memry=1M"], "did you mean memory?"),
    (["policy", "shw", "strict"], "did you mean show?"),
    (["policy", "show", "stric"], "did you mean strict?"),
    (["output", "last", "--stream", "sdtout"], "did you mean stdout?"),
    (["stats", "--by", "langwage"], "did you mean language?"),
    (["watch", "--kind", "lmit"], "did you mean limit?"),
):
    status, _, said = cectl(*words)
    eq((status != 0, hint in said), (True, True), " ".join(words) + ": " + hint)

status, _, said = cectl("run", "-c", "1", "--limit", "memory=900G")
eq(said.splitlines()[0], "cectl: --limit memory: must be at most 1 GiB", "a limit is named as it was written")
eq("an administrator can raise it with the setting \"most\"" in said, True, "and who can raise it")
eq(json.loads(cectl("run", "-c", "1", "--limit", "memory=900G", "--json")[1])["error"]["data"]["pointer"],
   "/limits/memory_bytes", "a program still gets the pointer")
eq("--language javascript" in cectl("runs", "--language", "js")[2], True, "the name that is in the record is told")

# The help explains each word of status.
words = cectl("status", "--help")[1].split("Words:")[1]
state = json.loads(cectl("status", "--json")[1])
eq([line for line in words.splitlines() if line[18:19].strip()], [], "a space stands behind each word")
shown = set(state) - {"version", "pid", "uptime_s", "draining", "drained", "blocked", "allowances"}
for key in "inspectors", "store":
    shown |= set(state[key]) - {"runs", "bytes", "path"}
shown |= set(state["runtimes"][0]) & {"warm", "making", "running", "ending", "wanted", "waited"}
names = {re.sub("_(us|ms|bytes)$", "", key).replace("_", " ") for key in shown}
told = " ".join(line[:18] for line in words.splitlines())
eq(sorted(name for name in names if not re.search(rf"\b{name}\b", told)), [], "each word of status is explained")

client = Client()
client.run("while True: pass", limits={"wall_ms": 50})
client.run("import socket", policy="strict", agent="planner", task="nightly-report")
client.call("admin.resume", reason="a reason that takes more than one line of eighty columns, or than two of them even")
status, runs, _ = cectl("runs")
eq("".join(runs.split()).count("killed"), 1, "a reason is whole at eighty columns")
status, acts, _ = cectl("acts")
column = acts.splitlines()[0].index("WITH"), acts.splitlines()[0].index("RESULT")
eq("than one line of eighty columns, or than two of them even" in
   " ".join(line[slice(*column)].strip() for line in acts.splitlines()[1:]),
   True, "so is why an administrator did something")
status, policies, _ = cectl("policy", "list")
eq("\u2026" in policies, False, "so are descriptions of policies")
for words in ["runs"], ["acts"], ["policy", "list"], ["runtimes"], ["budgets"], ["status"], ["stats"], ["show", "last"]:
    wide = [line for line in cectl(*words)[1].splitlines() if len(line) > 80 and "checkpoints.log" not in line and "ced.db" not in line]
    eq(wide, [], " ".join(words) + ": no line is wider than eighty columns")
done()
