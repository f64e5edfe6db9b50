"""cectl repl for node, typed into a terminal."""

import os
import pty
import select
import sys
import time

from wire import done, ok

pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb"
    os.execvp("cectl", ["cectl", "repl", "--language", "javascript"])
seen = ""


def wait_for(text, seconds=120):
    """Reads until the text has come."""
    global seen
    until = time.monotonic() + seconds
    while text not in seen and time.monotonic() < until:
        if select.select([terminal], [], [], 1)[0]:
            try:
                seen += os.read(terminal, 4096).decode(errors="replace")
            except OSError:
                break
    found, _, rest = seen.partition(text)
    good = text in seen
    if good:
        seen = rest
    return good, found


def types(text, hoped, name):
    os.write(terminal, text.encode())
    good, found = wait_for(hoped)
    ok(good, name, found)
    if hoped != ">>> ":
        wait_for(">>> ", 20)


ok(wait_for(">>> ")[0], "it prompts", seen)
types("let x = 40\n", ">>> ", "a line is a cell")
for line in "function f(y) {", "  return x + y // }":
    os.write(terminal, f"{line}\n".encode())
    ok(wait_for("... ")[0], f"{line!r} goes on", seen)
types("}\n", ">>> ", "and ends with its bracket")
types("console.log('is', f(2))\n", "is 42\r\n", "then it runs")
types("null.x\n", "TypeError", "an error is shown, and the session goes on")
types("require('fs').writeFileSync('kept.txt', 'abc')\n", ">>> ", "a file is written")
types("%files\n", "kept.txt", "%files lists it")
types("console.log('is', await x)\n", "is 40\r\n", "with what it had")
os.write(terminal, b"\x04")
ok(os.waitpid(pid, 0)[1] == 0, "Ctrl-D closes it")
done()
