"""Runs each program of tests/programs/ outside and inside, and compares the results.

Outside, /usr/bin/python3 (node, bash) runs it in an empty folder; inside, the daemon runs it.  Its stdout,
stderr and exit code or signal must be the same, after the folder's name is replaced by /work.
Comments at a program's beginning give its inputs and the expected differences:

    # args: --count 3 name
    # stdin: text with \\n
    # env: NAME=value
    # inside: the expected stdout inside, one line each, if it differs from outside
    # inside-stderr: the same for stderr
    # entrypoint: main.mjs      the name of the file
    # runtime: python-mp        runs in another runtime of that language; skipped where there is none
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

from wire import Client, done, ok

LANGUAGES = {
    # -u: unbuffered output keeps a program's order on each stream and loses nothing at its end, as inside.
    "python": (".py", "main.py", ["/usr/bin/python3", "-I", "-u"]),
    "bash": (".sh", "main.sh", ["/bin/bash"]),
    "javascript": (".js", "main.js", ["node"]),
}
AS_IN_FRONT = ["env", "--default-signal=INT,QUIT"]  # a shell's background jobs, and what they start, ignore these
AT_ONCE = 8
PATIENT = {"wall_ms": 60000}  # generous: a busy machine must not fail the test
SPECIAL = "--special"  # set: only programs with their own runtime; otherwise only the others
OUTSIDE_ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC"}
REMARK = re.compile(r"^(?:#|//) (args|stdin|env|entrypoint|inside|inside-stderr|runtime): ?(.*)$")


class Program:
    def __init__(self, path, language):
        self.name = os.path.basename(os.path.dirname(path)) + "/" + os.path.basename(path)
        self.language = self.runtime = language
        with open(path, encoding="utf-8", newline="") as file:
            self.code = file.read()
        self.args, self.stdin, self.env, self.inside, self.inside_stderr = [], None, {}, [], []
        self.entrypoint = LANGUAGES[language][1]
        for line in self.code.splitlines():
            remark = REMARK.match(line)
            if remark:
                self.take(*remark.groups())
            elif not line.startswith(("#", "//", "import os  #")):
                break

    def take(self, what, text):
        if what == "args":
            self.args = shlex.split(text)
        elif what == "stdin":
            self.stdin = (self.stdin or "") + text.encode().decode("unicode_escape")
        elif what == "env":
            self.env.update([text.split("=", 1)])
        elif what == "entrypoint":
            self.entrypoint = text
        elif what == "runtime":
            self.runtime = text
        elif what == "inside-stderr":
            self.inside_stderr.append(text)
        else:
            self.inside.append(text)

    def params(self):
        params = {"language": self.runtime, "code": self.code, "entrypoint": self.entrypoint, "args": self.args, "env": self.env,
                  "limits": PATIENT}
        if self.stdin is not None:
            params["stdin"] = self.stdin
        return params


def comparable(stream):
    """The text without memory addresses, process ids, and the internal frames by which node starts a program."""
    text = stream.decode(errors="replace") if isinstance(stream, bytes) else stream
    text = re.sub(r"(?m)^    at (.* \()?node:internal/.*\n", "", text)
    return re.sub(r"\(node:\d+\)", "(node:...)", re.sub(r"\b0x[0-9a-f]{6,}", "0x...", text))


def outside(program):
    """(stdout, stderr, exit code as a shell counts)"""
    entrypoint, command = program.entrypoint, LANGUAGES[program.language][2]
    with tempfile.TemporaryDirectory(prefix="ced-outside.") as folder:
        os.mkdir(folder + "/work")
        os.mkdir(folder + "/tmp")
        path = f"{folder}/work/{entrypoint}"
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(program.code)
        ended = subprocess.run(
            [*AS_IN_FRONT, *command, entrypoint, *program.args], input=(program.stdin or "").encode(), capture_output=True,
            cwd=folder + "/work", env={**OUTSIDE_ENV, "HOME": folder + "/work", "TMPDIR": folder + "/tmp", **program.env},
            timeout=60)
    streams = (data.replace(folder.encode(), b"") for data in (ended.stdout, ended.stderr))
    return *map(comparable, streams), ended.returncode


def exit_code(result):
    """The exit code in the form of subprocess."""
    return -signal.Signals[result["signal"]] if result.get("signal") else result.get("exit_code")


def difference(program, hoped, result):
    found = comparable(result["stdout"]), comparable(result["stderr"]), exit_code(result)
    if program.inside:
        hoped = "\n".join(program.inside) + "\n", *hoped[1:]
    if program.inside_stderr:
        hoped = hoped[0], "\n".join(program.inside_stderr) + "\n", hoped[2]
    lines = [f"outcome {result['outcome']} {result.get('evidence')}"] if found != hoped else []
    for name, a, b in zip(("stdout", "stderr", "exit code"), hoped, found):
        if a != b:
            lines += [f"{name} hoped {a!r}", f"{name} found {b!r}"]
    return "\n".join(lines)


def programs_in(folder, runtimes):
    wanted = [name for name in sys.argv[2:] if name != SPECIAL]
    for language, (end, _, _) in LANGUAGES.items():
        if language not in runtimes or not os.path.isdir(f"{folder}/{language}"):
            continue
        for entry in sorted(os.listdir(f"{folder}/{language}")):
            if entry.endswith(end) and (not wanted or entry in wanted):
                program = Program(f"{folder}/{language}/{entry}", language)
                if wanted or (program.runtime != language) == (SPECIAL in sys.argv):
                    yield program


client = Client()
runtimes = {runtime["name"] for runtime in client.call("runtimes")["runtimes"]}
programs = list(programs_in(sys.argv[1], runtimes))
while programs:
    some, programs = programs[:AT_ONCE], programs[AT_ONCE:]
    runs = [client.send("run", **program.params()) if program.runtime in runtimes else None for program in some]
    for program, run in zip(some, runs):
        if run is None:
            ok(True, f"{program.name} # SKIP this host has no {program.runtime}")
            continue
        error, result = client.receive(run)
        told = str(error) if error else difference(program, outside(program), result)
        ok(not told, program.name, told)
done()
