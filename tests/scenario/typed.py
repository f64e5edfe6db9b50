"""cectl repl on a terminal that gives whole lines, and what is typed there."""

import os
import pty
import select
import time

from wire import ok


class Typed:
    def __init__(self, *arguments):
        self.seen = ""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "dumb"
            os.execvp("cectl", ["cectl", "repl", *arguments])

    def wait_for(self, text, seconds=120):
        """Reads until the text has come.  Returns whether it has, and what came before it."""
        until = time.monotonic() + seconds
        while text not in self.seen and time.monotonic() < until:
            if select.select([self.terminal], [], [], 1)[0]:
                try:
                    self.seen += os.read(self.terminal, 4096).decode(errors="replace")
                except OSError:
                    break
        good = text in self.seen
        found, _, rest = self.seen.partition(text)
        if good:
            self.seen = rest
        return good, found

    def send(self, text):
        os.write(self.terminal, text.encode())

    def types(self, text, hoped, name):
        self.send(text)
        good, found = self.wait_for(hoped)
        ok(good, name, found)
        if hoped != ">>> ":
            self.wait_for(">>> ", 20)

    def end(self):
        """The exit status as waitpid() has it."""
        return os.waitpid(self.pid, 0)[1]
