"""
A process that starts commands and times them.

It is forked from the process that measures, which may then have threads and much memory without
making any start slower.  A starter may live in a mount namespace of its own, where the folders of
Python packages are empty: there `python3 -c` starts as on a Debian without further packages.
"""

import ctypes
import multiprocessing
import os
import site
import time

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/", "LANG": "C.UTF-8"}

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
PR_SET_CHILD_SUBREAPER = 36
ORPHANS_S = 2  # how long to wait for processes that a command has left behind


class Ended:
    """What became of a command."""

    def __init__(self, took_s, status, stdout, stderr, usages):
        self.took_s = took_s
        self.status = status  # of the exit; below 0 a signal's number; None: it did not start
        self.stdout = stdout
        self.stderr = stderr
        self.cpu_s = sum(usage.ru_utime + usage.ru_stime for usage in usages)
        self.faults = sum(usage.ru_minflt + usage.ru_majflt for usage in usages)


class CannotHide(Exception):
    pass


def package_folders():
    return [folder for folder in site.getsitepackages() if os.path.isdir(folder)]


def hide_packages():
    """Empties the folders of Python packages for this process and its children."""
    libc = ctypes.CDLL(None, use_errno=True)

    def must(what, result):
        if result != 0:
            raise CannotHide(f"{what}: {os.strerror(ctypes.get_errno())}")

    must("unshare", libc.unshare(CLONE_NEWNS | (0 if os.getuid() == 0 else CLONE_NEWUSER)))
    must("mount", libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    for folder in package_folders():
        must("mount", libc.mount(b"tmpfs", folder.encode(), b"tmpfs", 0, None))


def file_of(content):
    fd = os.memfd_create("bench")
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def whole(fd):
    os.lseek(fd, 0, os.SEEK_SET)
    with open(fd, "rb") as file:
        return file.read()


def start(argv, stdin):
    given, said = file_of(stdin), file_of(b"")
    reader, writer = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate((given, writer, said))]
    parts = []
    began = time.perf_counter()
    try:
        pid = os.posix_spawnp(argv[0], argv, ENVIRONMENT, file_actions=actions)
    except OSError as error:
        for fd in (given, said, reader, writer):
            os.close(fd)
        return Ended(0.0, None, b"", str(error).encode(), [])
    os.close(writer)
    while part := os.read(reader, 1 << 20):
        parts.append(part)
    _, status, usage = os.wait4(pid, 0)
    took_s = time.perf_counter() - began
    os.close(reader)
    os.close(given)
    usages = [usage] + list(orphans())
    return Ended(took_s, os.waitstatus_to_exitcode(status), b"".join(parts), whole(said), usages)


def orphans():
    """Waits for what a command has left behind: some jails end before the processes inside."""
    until = time.monotonic() + ORPHANS_S
    while time.monotonic() < until:
        try:
            pid, _, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid:
            yield usage
        else:
            time.sleep(0.001)


def serve(pipe, without_packages):
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        if without_packages:
            hide_packages()
        pipe.send(None)
    except CannotHide as error:
        pipe.send(str(error))
    while True:
        pipe.send(start(*pipe.recv()))


class Starter:
    """Commands run in `folder`.  Raises CannotHide where the kernel forbids the namespace."""

    def __init__(self, folder, without_packages=False):
        self.pipe, theirs = multiprocessing.Pipe()
        if os.fork() == 0:
            try:
                self.pipe.close()
                os.chdir(folder)
                serve(theirs, without_packages)
            except (EOFError, KeyboardInterrupt, BrokenPipeError, ConnectionResetError):
                pass
            finally:
                os._exit(0)
        theirs.close()
        trouble = self.pipe.recv()
        if trouble:
            raise CannotHide(trouble)

    def run(self, argv, stdin=b""):
        self.pipe.send((argv, stdin))
        return self.pipe.recv()
