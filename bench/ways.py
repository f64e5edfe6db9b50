"""
The ways of running a program: an interpreter without a jail, other jails, a warm Python, ced.

Each way has a name, and run(program) gives a Run.  A way is for one set of programs: its
interpreter, its runtime.
"""

import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import time

import msgpack

from starter import ENVIRONMENT

HERE = os.path.dirname(os.path.abspath(__file__))
STDOUT_BYTES = 8 << 20
ALTERNATIVES = "/etc/alternatives"  # Debian's links to libraries, of which numpy needs one
SEARCHED = "/usr/bin:/usr/sbin:/bin:/sbin"
PROBE = {
    "python": "word = 'two'\nprint(word, 'words')",
    "javascript": "const word = 'two'\nconsole.log(word, 'words')",
    "bash": "word=two\necho $word words",
}


class Run:
    """cpu and faults are of the command and of the children that it waited for; 0 if unknown."""

    def __init__(self, good, took_s, cpu_s=0.0, faults=0, metrics=None, trouble=""):
        self.good = good
        self.took_s = took_s
        self.cpu_s = cpu_s
        self.faults = faults
        self.metrics = metrics
        self.trouble = trouble


class Way:
    kind = "jail"  # of somebody else; "interpreter", "warm" or "daemon" for the others

    def __init__(self, name):
        self.name = name

    def close(self):
        pass


# ---- processes that start anew for each run ------------------------------------------------------


class Command(Way):
    def __init__(self, name, starter, words, kind="jail"):
        super().__init__(name)
        self.starter = starter
        self.words = words
        self.kind = kind

    def argv(self, code):
        return self.words + [code]

    def run_code(self, code, stdin=b""):
        ended = self.starter.run(self.argv(code), stdin)
        good = ended.status in (0, 1) and bool(ended.stdout)
        last = (ended.stderr.decode(errors="replace").strip().splitlines() or [""])[-1]
        return Run(good, ended.took_s, ended.cpu_s, ended.faults, trouble=last), ended.stdout

    def run(self, program):
        return self.run_code(program.another(), program.stdin)[0]

    def trouble(self, language):
        """Why the way cannot be used here, or None."""
        run, stdout = self.run_code(PROBE[language])
        return None if stdout == b"two words\n" else run.trouble or "it printed nothing"


class Bundle(Command):
    """crun and runc read the command from a bundle, which is written before the clock starts."""

    def __init__(self, name, starter, tool, words, folder):
        self.folder = os.path.join(folder, name)
        self.count = 0
        root = os.path.join(self.folder, "rootfs")
        for place in ("usr", "proc", "dev", "tmp", ALTERNATIVES.strip("/")):
            os.makedirs(os.path.join(root, place))
        for place in ("bin", "lib", "lib64"):
            os.symlink(f"usr/{place}", os.path.join(root, place))
        state = os.path.join(self.folder, "state")
        self.interpreter = words
        super().__init__(name, starter, [tool, "--root", state, "run", "--bundle", self.folder])

    def argv(self, code):
        with open(os.path.join(self.folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump(bundle_of(self.interpreter + [code]), file)
        self.count += 1
        return self.words + [f"bench-{os.getpid()}-{self.count}"]


NAMESPACES = ("pid", "network", "ipc", "uts", "mount")


def bundle_of(argv):
    def mount(place, kind, *options):
        source = place if kind == "bind" else kind
        return {"destination": place, "type": kind, "source": source, "options": list(options)}

    return {
        "ociVersion": "1.0.2",
        "process": {
            "terminal": False,
            "user": {"uid": 0, "gid": 0},
            "args": argv,
            "env": [f"{name}={value}" for name, value in ENVIRONMENT.items()],
            "cwd": "/",
            "noNewPrivileges": True,
        },
        "root": {"path": "rootfs", "readonly": True},
        "mounts": [
            mount("/usr", "bind", "rbind", "ro"),
            mount(ALTERNATIVES, "bind", "rbind", "ro"),
            mount("/proc", "proc"),
            mount("/dev", "tmpfs", "nosuid", "mode=755"),
            mount("/tmp", "tmpfs", "nosuid", "nodev"),
        ],
        "linux": {"namespaces": [{"type": name} for name in NAMESPACES]},
    }


BUBBLEWRAP = [
    "--unshare-all", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib",
    "--symlink", "usr/lib64", "/lib64", "--ro-bind-try", ALTERNATIVES, ALTERNATIVES,
    "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
    "--die-with-parent", "--new-session", "--clearenv",
]
FIREJAIL = [
    "--quiet", "--noprofile", "--net=none", "--private", "--private-dev", "--private-tmp",
    "--caps.drop=all", "--nonewprivs", "--seccomp",
]


def below_usr(words):
    """The interpreter's place below /usr, which is all that some jails have."""
    name = os.path.basename(words[0])
    return [shutil.which(name, path=SEARCHED) or words[0]] + words[1:]


def others(starter, interpreter, folder):
    """(name, way) of each other jail; None instead of a way if its tool is not installed."""
    words = below_usr(interpreter)
    for name, tool, options in (
        ("bubblewrap", "bwrap", BUBBLEWRAP), ("firejail", "firejail", FIREJAIL),
        ("crun", "crun", None), ("runc", "runc", None),
    ):
        path = shutil.which(tool, path=SEARCHED)
        if not path:
            yield name, None
        elif options is None:
            yield name, Bundle(name, starter, path, words, folder)
        else:
            yield name, Command(name, starter, [path] + options + words)


# ---- a warm Python without a jail ----------------------------------------------------------------


class Warm(Way):
    kind = "warm"

    def __init__(self, modules, folder):
        super().__init__("warm, no jail")
        self.path = os.path.join(folder, "warm")
        self.process = subprocess.Popen(
            ["/usr/bin/python3", "-I", os.path.join(HERE, "warm.py"), self.path, *modules],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=ENVIRONMENT, cwd=folder,
        )
        for _ in range(300):
            if os.path.exists(self.path):
                return
            time.sleep(0.1)
        raise TimeoutError("the warm Python did not start")

    def run(self, program):
        code = program.another().encode()
        request = struct.pack("=II", len(code), len(program.stdin)) + code + program.stdin
        got = 0
        began = time.perf_counter()
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(self.path)
            sock.sendall(request)
            while part := sock.recv(1 << 20):
                got += len(part)
        return Run(got > 0, time.perf_counter() - began)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.unlink(self.path)


# ---- ced -----------------------------------------------------------------------------------------


class Daemon:
    """[NAME=]SOCKET:PID, as the option says it; PID is the spawner's."""

    def __init__(self, where):
        name, _, place = where.rpartition("=")
        self.path, _, pid = place.rpartition(":")
        if not pid.isdigit() or not os.path.exists(f"/proc/{pid}"):
            sys.exit(f"programs.py: --daemon wants [NAME=]SOCKET:PID, not \"{where}\"")
        self.name = name or "ced"
        self.spawner = int(pid)
        self.connection = Connection(self.path)
        runtimes = self.connection.call("runtimes", {})["runtimes"]
        self.runtimes = {runtime["name"]: runtime for runtime in runtimes}


class Connection:
    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)
        self.unpacker = new_unpacker()

    def answer(self, request):
        self.sock.sendall(request)
        while True:
            data = self.sock.recv(1 << 20)
            if not data:
                sys.exit("programs.py: the daemon has closed the connection")
            self.unpacker.feed(data)
            for _, _, error, result in self.unpacker:
                return error, result

    def call(self, method, params):
        error, result = self.answer(msgpack.packb([0, 1, method, [params]]))
        if error:
            sys.exit(f"programs.py: {method}: {error}")
        return result


def new_unpacker():
    return msgpack.Unpacker(raw=False, strict_map_key=False, max_buffer_size=64 << 20)


def request_of(program, runtime):
    params = {"language": runtime, "code": program.another()}
    if program.value is not None:
        params["input"] = program.value
        params["limits"] = {"stdout_bytes": STDOUT_BYTES}
    return msgpack.packb([0, 1, "run", [params]])


def went_well(error, result):
    """An exception or an exit is what some programs are about."""
    return not error and result["outcome"] in ("ok", "exception", "exit")


class Ced(Way):
    kind = "daemon"

    def __init__(self, daemon, runtime):
        super().__init__(daemon.name)
        self.daemon = daemon
        self.runtime = runtime

    def run(self, program):
        request = request_of(program, self.runtime)
        began = time.perf_counter()
        error, result = self.daemon.connection.answer(request)
        took_s = time.perf_counter() - began
        good = went_well(error, result)
        trouble = "" if good else str(error or result["reason"] or result["outcome"])
        return Run(good, took_s, metrics=result["metrics"] if good else None, trouble=trouble)
