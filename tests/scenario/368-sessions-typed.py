"""cectl repl for bash, typed into a terminal."""

import os
import pty
import select
import time

from wire import done, ok

pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb"
    os.execvp("cectl", ["cectl", "repl", "--language", "bash"])
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
    good = text in seen
    found, _, rest = seen.partition(text)
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
types("x=40\n", ">>> ", "a line is a cell")
for line in "f() {", "  if [ \"$1\" ]; then", "    cat <<END", "is $((x + $1)) }", "END", "  fi":
    os.write(terminal, f"{line}\n".encode())
    ok(wait_for("... ")[0], f"{line!r} goes on", seen)
types("}\n", ">>> ", "and ends with its bracket")
types("f 2\n", "is 42 }\r\n", "then it runs")
types("nosuch\n", "command not found", "an error is shown, and the session goes on")
types("echo abc >kept.txt; exit 3\n", ">>> ", "a file is written, and exit ends the cell")
types("%files\n", "kept.txt", "%files lists it")
types("x=bad\n", ">>> ", "a variable is changed")
types("%rollback 6\n", "back in state 6", "and the session goes back")
types("f 0\n", "is 40 }\r\n", "to what it had")
os.write(terminal, b"\x04")
ok(os.waitpid(pid, 0)[1] == 0, "Ctrl-D closes it")
done()
