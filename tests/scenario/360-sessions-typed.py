"""cectl repl, typed into a terminal."""

import os

from typed import Typed
from wire import done, ok

t = Typed()
ok(t.wait_for(">>> ")[0], "it prompts", t.seen)
t.types("x = 40\n", ">>> ", "a line is a cell")
t.types("def f(y):\n", "... ", "a block goes on")
t.send("    return x + y\n\n")
t.wait_for(">>> ")
t.types("print('is', f(2))\n", "is 42\r\n", "and ends with an empty line")
t.types("1/0\n", "ZeroDivisionError", "an exception is shown, and the session goes on")
t.types("print('is', x)\n", "is 40\r\n", "with what it had")
t.types("open('kept.txt', 'w').write('abc')\n", ">>> ", "a file is written")
t.types("%files\n", "kept.txt", "%files lists it")
t.types("%limits\n", "memory", "%limits")
t.types("%help\n", "%close", "%help")
t.types("%nothing\n", "no such command", "another command is none")
t.send("x = (1,\n")
t.wait_for("... ")
t.send("\x03")
ok(t.wait_for(">>> ")[0], "Ctrl-C drops what was typed", t.seen)
t.types("print('is', x)\n", "is 40\r\n", "and nothing else")
t.send("\x04")
status = t.end()
ok(os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0, "Ctrl-D closes it", status)

t = Typed("--limit", "wall=50s")
t.wait_for(">>> ")
t.send("import time; print('begun', flush=True); time.sleep(40)\n")
ok(t.wait_for("begun\r\n")[0], "a cell runs, and its output comes at once", t.seen)
t.send("\x03")
ok(t.wait_for("canceled")[0], "Ctrl-C cancels it, and says so", t.seen)
os.close(t.terminal)
t.end()
done()
