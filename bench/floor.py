"""
What no host of programs can do without: a commit's sync on the disk, and a wake-up of a process.

The third part of the floor, a warm interpreter, is a way of its own: ways.py has it.
"""

import concurrent.futures
import os
import socket
import tempfile
import time

COMMIT_BYTES = 12 << 10
FILE_BYTES = 4 << 20


class Sync:
    """One thread that writes as the recorder does: 12 KiB into a file that keeps its size."""

    def __init__(self, folder):
        self.folder = folder
        self.file = tempfile.TemporaryFile(dir=folder, buffering=0)
        self.file.write(bytes(FILE_BYTES))
        os.fsync(self.file.fileno())
        self.at = 0
        self.thread = concurrent.futures.ThreadPoolExecutor(1)

    def commit(self):
        content = os.urandom(COMMIT_BYTES)
        began = time.perf_counter()
        os.pwrite(self.file.fileno(), content, self.at)
        os.fdatasync(self.file.fileno())
        took_s = time.perf_counter() - began
        self.at = (self.at + COMMIT_BYTES) % (FILE_BYTES - COMMIT_BYTES)
        return took_s

    def measure(self):
        return self.thread.submit(self.commit).result()


class Wake:
    """A process that sleeps until a byte comes over a socket pair, and sends it back."""

    def __init__(self):
        self.ours, theirs = socket.socketpair()
        if os.fork() == 0:
            self.ours.close()
            try:
                while byte := theirs.recv(1):
                    theirs.send(byte)
            except (KeyboardInterrupt, OSError):
                pass
            finally:
                os._exit(0)
        theirs.close()

    def measure(self):
        began = time.perf_counter()
        self.ours.send(b".")
        self.ours.recv(1)
        return time.perf_counter() - began


def state_of(spawner):
    """The folder of a daemon's state as its command line names it, or None."""
    try:
        with open(f"/proc/{spawner}/cmdline", encoding="utf-8", errors="surrogateescape") as file:
            words = file.read().split("\0")
        return words[words.index("--state") + 1]
    except (OSError, ValueError, IndexError):
        return None


def folder_for_sync(wanted, spawners):
    """The folder that the option names, else a daemon's state, else None."""
    folders = [wanted] if wanted else [state_of(spawner) for spawner in spawners]
    for folder in folders:
        if folder and os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
            return folder
    return None
