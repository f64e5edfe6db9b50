"""Imports every module of CPython's standard library outside and inside the jail, and compares the results.

A batch at a time: outside in a child of this interpreter, inside in a run.  The result is the exception, or
the module's names.  A module that cannot be imported outside must fail in the same way inside.
"""

import json
import os
import sys
import sysconfig

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from wire import Client, done, eq, ok

sys.path.pop()

# Their import opens a browser or a window, or they belong to the host's /etc.
NOT_TRIED = {"antigravity", "idlelib.idle", "sitecustomize", "usercustomize"}
# Tests of the library, and packages that are not part of it.
FOLDERS_NOT_TRIED = {"test", "tests", "idle_test", "__pycache__", "site-packages", "dist-packages"}

IN_ONE_RUN = 12
PATIENT = {"wall_ms": 60000, "cpu_ms": 60000}  # generous: a busy machine must not fail the test

PROBE = """
import importlib, json, sys, warnings
warnings.simplefilter("ignore")
for name in NAMES:
    try:
        told = sorted(vars(importlib.import_module(name)))
    except BaseException as error:
        told = ["failed", type(error).__name__, str(error)]
    sys.__stdout__.write("\\n" + MARK + json.dumps(told))
"""
MARK = "these are its names: "  # some modules print during their import


def modules_below(folder, prefix):
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        name, dot, end = entry.name.partition(".")
        if entry.is_dir():
            if os.path.exists(entry.path + "/__init__.py") and name not in FOLDERS_NOT_TRIED:
                yield prefix + name
                yield from modules_below(entry.path, prefix + name + ".")
        elif dot and (end == "py" or end.endswith(".so")) and name.isidentifier() and name != "__init__":
            yield prefix + name


def all_modules():
    names = set(sys.stdlib_module_names)
    for folder in sysconfig.get_path("stdlib"), sysconfig.get_path("stdlib") + "/lib-dynload":
        names |= set(modules_below(folder, ""))
    return sorted(name for name in names if name not in NOT_TRIED and name.split(".")[0] not in FOLDERS_NOT_TRIED
                  and not name.startswith("_sysconfigdata") and not name.endswith("__main__"))


def told_in(output, names):
    """The result for each of `names`, from JSON; no entry for a name that was not reached."""
    told = [line.removeprefix(MARK) for line in output.splitlines() if line.startswith(MARK)]
    return dict(zip(names, told + [""] * len(names)))


def outside(names):
    """Runs in a child of this interpreter, which has the same imports as a zygote, instead of a fresh one."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open("/dev/null", os.O_RDWR), 0)
        os.dup2(0, 2)
        os.dup2(writing, 1)
        try:
            exec(PROBE, {"NAMES": names, "MARK": MARK})
            sys.__stdout__.flush()
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading) as file:
        told = file.read()
    os.waitpid(pid, 0)
    return told_in(told, names)


def difference(hoped, found, result):
    try:
        a, b = set(json.loads(hoped)), set(json.loads(found))
        return f"only outside {sorted(a - b)}, only inside {sorted(b - a)}"
    except ValueError:
        return f"{result['outcome']}: {result['stdout'][-300:]} {result['stderr'][-300:]}"


client = Client()
for name in client.call("runtimes")["runtimes"][0]["preload"].split():
    __import__(name)
names = all_modules()
ok(len(names) > 500, f"{len(names)} modules are tried")
together = [names[at:at + IN_ONE_RUN] for at in range(0, len(names), IN_ONE_RUN)]
runs = [client.send("run", language="python", code=f"NAMES = {some!r}\nMARK = {MARK!r}\n{PROBE}", limits=PATIENT)
        for some in together]
imported = 0
for some, run in zip(together, runs):
    hoped = outside(some)
    error, result = client.receive(run)
    found = told_in(result["stdout"], some) if not error else {}
    for name in some:
        if hoped[name] and found.get(name) == hoped[name]:
            imported += not hoped[name].startswith('["failed"')
        else:
            ok(False, f"import {name}", error or difference(hoped[name], found[name], result))
ok(imported > 500, f"{imported} of them are imported, the others fail as outside")
done()
