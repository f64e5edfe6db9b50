"""Runs in the place of a zygote and reports its environment: one "key value" a line on its socket.

Then it executes commands: "exit N", "fork" (a child that must not outlive it), "sleep".
"""

import errno
import os
import socket
import time

SOCKET = int(os.environ["CED_FD"])
PROC = int(os.environ["CED_PROC_FD"])
CANARY = "/tmp/ced-canary"


def attempt(function, *args):
    """"done", or the name of the error."""
    try:
        function(*args)
        return "done"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))


def proc(path):
    fd = os.open(path, os.O_RDONLY, dir_fd=PROC)
    try:
        return os.read(fd, 65536).decode()
    finally:
        os.close(fd)


def status(name):
    for line in proc("self/status").splitlines():
        if line.startswith(name + ":"):
            return " ".join(line.split()[1:])
    return "-"


def open_fds():
    found = []
    for fd in range(4096):
        try:
            os.fstat(fd)
            found.append(str(fd))
        except OSError:
            pass
    return ",".join(found)


def flags(path):
    bits = os.statvfs(path).f_flag
    names = ((os.ST_RDONLY, "ro"), (os.ST_NOSUID, "nosuid"), (os.ST_NODEV, "nodev"))
    return ",".join(name for bit, name in names if bits & bit)


def list_of(path):
    return ",".join(sorted(os.listdir(path)))


def pids():
    fd = os.open(".", os.O_RDONLY, dir_fd=PROC)
    try:
        return ",".join(sorted(name for name in os.listdir(fd) if name.isdigit()))
    finally:
        os.close(fd)


def report():
    yield "report", 1
    yield "pid", os.getpid()
    yield "ppid", os.getppid()
    yield "session", os.getsid(0)
    yield "uid", ",".join(str(uid) for uid in os.getresuid() + os.getresgid())
    yield "groups", len([group for group in os.getgroups() if group != 65534])
    yield "hostname", os.uname().nodename
    yield "cwd", os.getcwd()
    yield "fds", open_fds()
    yield "root", list_of("/")
    yield "dev", list_of("/dev")
    yield "etc", list_of("/etc")
    yield "bin", list_of("/usr/bin")
    yield "flags.root", flags("/")
    yield "flags.lib", flags("/usr/lib")
    yield "flags.ced", flags("/ced")
    yield "flags.null", flags("/dev/null")
    yield "write.root", attempt(os.mkdir, "/new")
    yield "write.lib", attempt(os.mkdir, "/usr/lib/new")
    yield "write.ced", attempt(os.mkdir, "/ced/new")
    yield "canary", os.path.exists(CANARY)
    yield "canary.up", os.path.exists("/../../../.." + CANARY)
    yield "canary.proc", attempt(lambda: os.stat("self/root" + CANARY, dir_fd=PROC))
    yield "canary.cwd", attempt(lambda: os.stat("1/cwd" + CANARY, dir_fd=PROC))
    yield "pids", pids()
    yield "proc.host", attempt(lambda: os.stat("sys", dir_fd=PROC))
    yield "caps", status("CapEff")
    yield "no_new_privs", status("NoNewPrivs")
    yield "seccomp", status("Seccomp")
    yield "uid_map", " ".join(proc("self/uid_map").split())
    yield "setgroups", proc("self/setgroups").strip()
    yield "cgroup", ";".join(proc("self/cgroup").split())
    yield "socket", attempt(socket.socket, socket.AF_INET)
    yield "environment", ",".join(sorted(os.environ))
    yield "raise.core", attempt(set_core)


def set_core():
    import resource
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    except ValueError:
        raise OSError(errno.EPERM, "not allowed to raise") from None


def say(sock):
    try:
        text = "".join(f"{key} {value}\n" for key, value in report())
    except BaseException as error:
        text = f"broken {type(error).__name__}: {error}\n"
    sock.sendall((text + "end\n").encode())


def obey(sock):
    while True:
        words = sock.recv(64).decode().split()
        if not words:
            return 0
        if words[0] == "exit":
            return int(words[1])
        if words[0] == "fork" and os.fork() == 0:
            os.setsid()
            time.sleep(600)
        sock.sendall(b"ok\n")


# Built without socket.socket(fileno=...), whose system calls the filter refuses.
class Plain:
    def __init__(self, fd):
        self.fd = fd

    def sendall(self, data):
        while data:
            data = data[os.write(self.fd, data):]

    def recv(self, size):
        return os.read(self.fd, size)


plain = Plain(SOCKET)
say(plain)
os._exit(obey(plain))
