"""cectl repl for node, typed into a terminal."""

from typed import Typed
from wire import done, ok

t = Typed("--language", "javascript")
ok(t.wait_for(">>> ")[0], "it prompts", t.seen)
t.types("let x = 40\n", ">>> ", "a line is a cell")
for line in "function f(y) {", "  return x + y // }":
    t.send(f"{line}\n")
    ok(t.wait_for("... ")[0], f"{line!r} goes on", t.seen)
t.types("}\n", ">>> ", "and ends with its bracket")
t.types("console.log('is', f(2))\n", "is 42\r\n", "then it runs")
t.types("x + 2\n", "42\r\n", "the value of an expression is shown")
t.types("Promise.resolve('later')\n", "'later'\r\n", "and what a promise brings")
t.types("null.x\n", "TypeError", "an error is shown, and the session goes on")
t.types("require('fs').writeFileSync('kept.txt', 'abc')\n", ">>> ", "a file is written")
t.types("%files\n", "kept.txt", "%files lists it")
t.types("console.log('is', await x)\n", "is 40\r\n", "with what it had")
t.send("\x04")
ok(t.end() == 0, "Ctrl-D closes it")
done()
