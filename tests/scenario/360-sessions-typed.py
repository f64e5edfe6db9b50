"""cectl repl, typed into a terminal."""

import os
import pty
import select
import sys
import time

from wire import done, ok

pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb"
    os.execvp("cectl", ["cectl", "repl"])
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
types("x = 40\n", ">>> ", "a line is a cell")
types("def f(y):\n", "... ", "a block goes on")
os.write(terminal, b"    return x + y\n\n")
wait_for(">>> ")
types("print('is', f(2))\n", "is 42\r\n", "and ends with an empty line")
types("1/0\n", "ZeroDivisionError", "an exception is shown, and the session goes on")
types("print('is', x)\n", "is 40\r\n", "with what it had")
types("open('kept.txt', 'w').write('abc')\n", ">>> ", "a file is written")
types("%files\n", "kept.txt", "%files lists it")
types("%limits\n", "memory", "%limits")
types("%help\n", "%close", "%help")
types("%nothing\n", "no such command", "another command is none")
os.write(terminal, b"x = (1,\n")
wait_for("... ")
os.write(terminal, b"\x03")
ok(wait_for(">>> ")[0], "Ctrl-C drops what was typed", seen)
types("print('is', x)\n", "is 40\r\n", "and nothing else")
os.write(terminal, b"\x04")
_, status = os.waitpid(pid, 0)
ok(os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0, "Ctrl-D closes it", status)

pid, terminal = pty.fork()
if pid == 0:
    os.execvp("cectl", ["cectl", "repl", "--limit", "wall=50s"])
wait_for(">>> ")
os.write(terminal, b"import time; print('begun', flush=True); time.sleep(40)\n")
ok(wait_for("begun\r\n")[0], "a cell runs, and its output comes at once", seen)
os.write(terminal, b"\x03")
ok(wait_for("canceled")[0], "Ctrl-C cancels it, and says so", seen)
os.close(terminal)
os.waitpid(pid, 0)
done()
