"""A service manager for scenarios, as far as ced needs one: it makes the socket, starts and stops, and hears."""

import os
import signal
import socket
import threading
import time


def fill(send):
    """Sends until nothing fits in, though a reader may still take what it has waited for."""
    refusals = 0
    while refusals < 20:
        try:
            send()
            refusals = 0
        except BlockingIOError:
            refusals += 1
            time.sleep(0.05)


class Manager:
    """Keeps the listening socket through restarts; ARGUMENTS are those of ced-spawner."""

    def __init__(self, arguments, path=None, watchdog_s=0, log=None, stderr=2):
        self.arguments, self.watchdog_s, self.log, self.stderr = arguments, watchdog_s, log, stderr
        self.pid = None
        self.heard = threading.Condition()
        self.reads = threading.Event()
        self.reads.set()
        self.words = []
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.address = f"ced-manager-{os.getpid()}"
        self.notify.bind("\0" + self.address)
        threading.Thread(target=self._hear, daemon=True).start()
        self.listening = None
        if path:
            self.listening = socket.socket(socket.AF_UNIX)
            self.listening.bind(path)
            os.chmod(path, 0o666)
            self.listening.listen(4096)

    def _hear(self):
        while self.reads.wait():
            text = self.notify.recv(4096).decode()
            with self.heard:
                self.words += text.split("\n")
                self.heard.notify_all()

    def count(self, word):
        with self.heard:
            return self.words.count(word)

    def wait(self, word, more, patience_s=300):
        """Waits until it was heard more than `more` times."""
        with self.heard:
            return self.heard.wait_for(lambda: self.words.count(word) > more, patience_s)

    def start(self):
        ready = self.count("READY=1")
        self.pid = os.fork()
        if self.pid == 0:
            os.environ["NOTIFY_SOCKET"] = "@" + self.address
            if self.watchdog_s:
                os.environ.update(WATCHDOG_USEC=str(int(self.watchdog_s * 1e6)), WATCHDOG_PID=str(os.getpid()))
            if self.listening:
                os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
            os.dup2(self.stderr, 2)
            if self.log:
                os.dup2(os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), 2)
            os.dup2(2, 1)
            # Number 3 comes last: what has it until now may be needed before.
            if self.listening:
                os.dup2(self.listening.fileno(), 3)
                os.set_inheritable(3, True)
            os.execv(self.arguments[0], self.arguments)
        return self.wait("READY=1", ready)

    def stop_reading(self):
        """From now on nobody reads and nothing more fits in, until self.reads is set."""
        self.reads.clear()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
            other.setblocking(False)
            fill(lambda: other.sendto(b"X=1", "\0" + self.address))

    def stop(self, number=signal.SIGTERM):
        os.kill(self.pid, number)
        _, status = os.waitpid(self.pid, 0)
        self.pid = None
        return os.waitstatus_to_exitcode(status)
