"""No text from a program reaches a terminal unchanged: no command prints a raw control character."""

import json
import os
import pty
import re
import subprocess

from wire import Client, done, eq

NASTY = "\x1b[31mA\x9b32mB\u202eC\x7fD\u2066E\u00adF\x07G\ufeffH\U000e0041"
FOREIGN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
                     "\U000e0000-\U000e0fff]")
LOOKS = dict(os.environ, TERM="dumb", NO_COLOR="1", LC_ALL="C.UTF-8", COLUMNS="100")


def on_terminal(*words):
    master, slave = pty.openpty()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env=LOOKS)
    os.close(slave)
    data = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        data += piece
    process.wait()
    os.close(master)
    return data.replace(b"\r\r\n", b"\n").replace(b"\r\n", b"\n")


def in_pipe(*words):
    process = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, env=LOOKS)
    return (process.stdout + process.stderr).replace(b"\r\n", b"\n")  # the line ending of CSV


def found_in(data):
    text = data.decode("utf-8", "surrogateescape")
    match = FOREIGN.search(text) or re.search("[\udc80-\udcff]", text)
    return repr(text[max(0, match.start() - 60):match.end() + 20]) if match else None


client = Client()
program = f"""import os, sys
bad = {NASTY!r}
open("made " + bad[1:4] + ".txt", "w").write(bad)
print(bad)
os.write(1, b"\\x9b raw \\xff\\n")
print(bad, file=sys.stderr)
raise ValueError(bad)
# {NASTY.replace(chr(27), "")}
"""
params = {"code": program, "args": [NASTY], "stdin": NASTY, "env": {"X": NASTY}, "artifacts": ["*"],
          "files": [{"path": "given.txt", "data": NASTY}], "policy": "observe"}
run = client.run(**params)
eq(run["outcome"], "exception", "a program writes what terminals obey")
client.run(f"import socket\nx = {NASTY!r}.__class__.__subclasses__()\n# {NASTY}", policy="strict")
client.send("run", **{"language": NASTY, "code": NASTY, NASTY: NASTY})
client.call("admin.drain", reason="fine")
client.call("admin.resume")
error, _ = client.receive(client.send("admin.block", uid=4001, reason=NASTY))
with open("nasty.py", "w", encoding="utf-8") as file:
    file.write(program)
run_id = run["run_id"]
commands = [
    ["runs"], ["runs", "--csv", "--columns", "all"], ["runs", "--columns", "all"], ["show", run_id], ["show", "--full", run_id],
    ["show", "last"], ["show", "last~1"], ["explain", run_id], ["explain", "last"], ["explain", "last~1"], ["trace", run_id],
    ["output", run_id], ["output", run_id, "--stream", "stderr"], ["output", run_id, "--stream", "code"],
    ["output", run_id, "--stream", "stdin"], ["diff", run_id, "last"], ["stats"], ["acts"], ["status"], ["audit", "export"],
    ["audit", "export", "--format", "ocsf"], ["audit", "export", "--whole"], ["audit", "verify"], ["replay", run_id],
    ["check", "nasty.py"], ["check", "nasty.py", "--policy", "strict"], ["budgets"], ["runtimes"],
    ["policy", "show", NASTY], ["policy", "show", "strict", "--rule", NASTY], ["runs", "--columns", NASTY], ["runs", "--uid", NASTY],
    [NASTY], ["audit", NASTY], ["--" + NASTY], ["run", "--" + NASTY], ["run", NASTY], ["run", "-c", "1", "--limit", NASTY],
    ["run", "-c", "1", "-l", NASTY], ["run", "-c", "1", "-p", NASTY], ["run", "-c", "1", "--input", NASTY], ["unblock", NASTY],
    ["show", NASTY], ["wait", NASTY, "--timeout", NASTY], ["policy", NASTY], ["budgets", "reset", "--task", NASTY],
    ["output", run_id, "--stream", NASTY], ["gc", "--older-than", NASTY], ["watch", "--kind", NASTY], ["put", NASTY],
]
for words in commands:
    name = " ".join(words).replace(NASTY, "NASTY").replace(run_id, "RUN")
    for way, look in (("a terminal", on_terminal), ("a pipe", in_pipe)):
        found = found_in(look("cectl", *words))
        eq(found, None, f"{name}: nothing raw on {way}")
    if words[:2] != ["audit", "export"]:
        eq(found_in(on_terminal("cectl", *words, "--json")), None, f"{name} --json: nothing raw on a terminal")
eq(found_in(on_terminal("cectl", "run", "nasty.py")), None, "run: nothing raw on a terminal")
eq(found_in(on_terminal("cectl", "run", "--stream", "nasty.py")), None, "run --stream: nothing raw on a terminal")
plain = subprocess.run(["cectl", "audit", "export", "--whole"], capture_output=True, text=True)
records = [json.loads(line) for line in plain.stdout.splitlines()]
mine = [record for record in records if record.get("run_id") == run_id]
eq(NASTY in mine[0]["stderr"], True, "what is escaped is the same text to who reads the JSON")
done()
