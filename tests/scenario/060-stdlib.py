"""Every module of CPython's standard library, imported outside and in the jail: the same comes of it.

Outside a child of this interpreter does it, inside a run of its own; told are the exception, or the
names that the module has.  What cannot be imported outside must fail in the same way inside.
"""

import json
import os
import sys
import sysconfig

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from wire import Client, done, eq, ok

sys.path.pop()

# They open a browser and a window when they are imported, or belong to the host's /etc.
NOT_TRIED = {"antigravity", "idlelib.idle", "sitecustomize", "usercustomize"}
# Tests of the library, and what is not of the library.
FOLDERS_NOT_TRIED = {"test", "tests", "idle_test", "__pycache__", "site-packages", "dist-packages"}

AT_ONCE = 16

PROBE = """
import importlib, json, sys, warnings
warnings.simplefilter("ignore")
try:
    told = sorted(vars(importlib.import_module(NAME)))
except BaseException as error:
    told = ["failed", type(error).__name__, str(error)]
sys.__stdout__.write("\\n" + json.dumps(told))
"""


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


def outside(name):
    """A fresh interpreter for each would take a minute: a child that has imported no more will do."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open("/dev/null", os.O_RDWR), 0)
        os.dup2(0, 2)
        os.dup2(writing, 1)
        try:
            exec(PROBE, {"NAME": name})
            sys.__stdout__.flush()
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading) as file:
        told = file.read()
    os.waitpid(pid, 0)
    return told.rpartition("\n")[2]


def told_by(result, hoped):
    """What is different, for whoever has to look into it."""
    found = result["stdout"].rpartition("\n")[2]
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
imported = 0
while names:
    some, names = names[:AT_ONCE], names[AT_ONCE:]
    runs = [client.send("run", language="python", code=f"NAME = {name!r}\n{PROBE}") for name in some]
    for name, run in zip(some, runs):
        hoped = outside(name)
        error, result = client.receive(run)
        if error or result["stdout"].rpartition("\n")[2] != hoped:
            ok(False, f"import {name}", error or told_by(result, hoped))
        else:
            imported += not hoped.startswith('["failed"')
ok(imported > 500, f"{imported} of them are imported, the others fail as outside")
done()
