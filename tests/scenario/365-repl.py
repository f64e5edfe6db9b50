"""cectl repl in a terminal, as a person types: keys, history, commands, Ctrl-C, Ctrl-D."""

import fcntl
import os
import pty
import re
import select
import signal
import stat
import struct
import subprocess
import sys
import termios
import time

from wire import Client, done, eq, ok, wait_until

PATIENCE = float(os.environ.get("PATIENCE", 300))
HISTORY = os.path.join(os.environ["XDG_STATE_HOME"], "ced/history")
UP, DOWN, RIGHT, LEFT, HOME, END, DELETE = (f"\033[{key}" for key in ("A", "B", "C", "D", "H", "F", "3~"))
CTRL = {letter: chr(ord(letter) & 0x1F) for letter in "ABCDEFKLUWZ"}
# What cectl may send: colours, the erasing of a line, the cursor's column, the clearing of the screen.
ALLOWED = re.compile(r"\033\[([0-9;]*m|K|[0-9]+C|H|2J)")


class Terminal:
    """A terminal of 80 columns with cectl repl in it."""

    def __init__(self, *options):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            os.environ.update(TERM="xterm", NO_COLOR="1")
            os.execvp("cectl", ["cectl", "repl", *options])
        self.all = self.new = ""
        self.prompt()

    def read(self):
        """More of what it wrote; False when it has gone."""
        if not select.select([self.fd], [], [], 1)[0]:
            return True
        try:
            data = os.read(self.fd, 65536).decode(errors="replace")
        except OSError:
            return False
        self.all += data
        self.new += data
        return bool(data)

    def wait(self, pattern):
        """What was written up to the pattern; None: it did not come."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = re.search(pattern, self.new)
            if found:
                before, self.new = self.new[: found.end()], self.new[found.end():]
                return before
            if not self.read():
                break
        return None

    def prompt(self, text=">>> "):
        return self.wait(r"\r" + re.escape(text) + r"\x1b\[K\r\x1b\[4C$")

    def send(self, keys):
        os.write(self.fd, keys.encode())

    def types(self, keys, prompt=">>> "):
        """Sends keys and Enter; what was written up to the next prompt, without the drawing of lines."""
        self.send(keys + "\n")
        written = self.prompt(prompt)
        if written is None:
            return None
        return "\n".join(line.rsplit("\r", 1)[-1] if line.startswith("\r") else line
                         for line in written.replace("\r\n", "\n").split("\n")[1:-1])

    def ends(self):
        """Its exit status, when it has gone."""
        while self.read():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


# ---- typing and editing ------------------------------------------------------------------------

t = Terminal("--states", "8", "--limit", "wall=60s")
session = re.search(r"session ([0-9A-Z]{26})", t.all).group(1)
eq(t.types("print(6 * 7)"), "42", "a line is a cell")
eq(t.types("6 * 7"), "42", "an expression shows its value")
eq(t.types("{'a': [1]}"), "{'a': [1]}", "a value that is JSON, too, needs no more words")
eq(t.types("'\\x1b[2J\\u202e'"), r"'\x1b[2J\u202e'", "a value moves nothing")
eq(t.types("x = 1"), "", "one that prints nothing shows nothing")
eq(t.types("x = 'grüße 世界'; print(x)"), "grüße 世界", "text of any language")
eq(t.types("print(12)" + LEFT * 2 + DELETE + "9" + HOME + RIGHT * 6 + "7"), "719", "the line can be edited in the middle")
eq(t.types("rint('a')" + CTRL["A"] + "p" + CTRL["E"] + "#"), "a", "Ctrl-A and Ctrl-E")
eq(t.types("nonsense" + CTRL["U"] + "print('b') nonsense" + CTRL["W"]), "b", "Ctrl-U and Ctrl-W")
eq(t.types("print('é')" + LEFT * 2 + "\x7fe"), "e", "a character of several bytes is erased whole")
eq(t.types("print('" + "1234567890" * 15 + "'[-3:])" + HOME + END), "890", "a line longer than the terminal")
eq(t.types(UP + UP), "e", "arrows bring back earlier lines")
eq(t.types("print('kept')" + UP + UP + DOWN + DOWN), "kept", "and then the one that was being typed")
t.types("for i in range(2):", "... ")
t.types("\tprint(i)", "... ")
eq(t.types(""), "0\n1", "a block ends with an empty line, and Tab indents")
t.types("print('a',", "... ")
eq(t.types("'b')"), "a b", "an open bracket goes on")
t.send("print('dropped'")
t.send(CTRL["C"])
ok(t.prompt() is not None, "Ctrl-C drops a line")
t.types("y = (1,", "... ")
t.send(CTRL["C"])
ok(t.prompt() is not None, "and a block")
ok("SyntaxError" in (t.types("print('a") or ""), "a quote that is not closed is an error at once")
t.types("z = [", "... ")
ok("this line is part of the cell, which is not whole; Ctrl-C drops it" in (t.types("%states", "... ") or ""),
   "a command in an open cell is none, and cectl says so")
t.send(CTRL["C"])
t.prompt()
t.send("print(1)\nprint(2)\nprint(3)\n")
ok(t.wait("\n1\r\n(.|\n)*\n2\r\n(.|\n)*\n3\r\n") is not None, "several lines can be pasted", t.new)
t.prompt()
t.send(CTRL["L"])
ok(t.wait(r"\x1b\[H\x1b\[2J") is not None and t.prompt() is not None, "Ctrl-L clears the screen")
written = t.types(r"print('\x1b[31mred\x1b]0;owned\x07\u202e')")
eq(written, r"\x1b[31mred\x1b]0;owned\x07\u{202e}", "what a program prints moves nothing")
written = t.types(r"raise ValueError('\x1b[2J')")
ok(written and r"ValueError: \x1b[2J" in written, "nor what it raises", written)
ok("ZeroDivisionError" in (t.types("1/0") or ""), "an exception is shown")
eq(t.types("print(x)"), "grüße 世界", "and the session goes on")
ok("cectl: %exit or Ctrl-D ends the session" in (t.types("exit()") or ""), "what ends other prompts is a cell here, and cectl says what ends the session")
eq(stat.S_IMODE(os.stat(HISTORY).st_mode), 0o600, "the history is the user's alone")

# ---- commands -----------------------------------------------------------------------------------

helped = t.types("%help")
ok(helped and all(word in helped for word in ("%states", "%rollback", "%fork", "%save", "%load", "%exit")), "%help", helped)
ok("did you mean %rollback?" in (t.types("%rolback 3") or ""), "a typo gets a suggestion", t.all[-300:])
ok("needs one word: %rollback N" in (t.types("%rollback") or ""), "a number that lacks is asked for", t.all[-300:])
ok("a state is a number" in (t.types("%fork soon") or ""), "and a word is none")
ok("is not kept; these are: " in (t.types("%rollback 9999") or ""), "a state that is not kept is refused with those that are")


def here():
    """The state where %states says that the session stands."""
    return int(re.search(r"^ *([0-9]+) .* here$", t.types("%states"), re.M).group(1))


t.types("n = 'one'")
one = here()
t.types("n = n + ' two'")
two = here()
eq(t.types(f"%rollback {one}"), f"back in state {one}", "%rollback")
eq(t.types("print(n)"), "one", "brings the variables back")
eq(t.types(f"%fork {two}"), f"the next cell begins in state {two}", "%fork")
eq(t.types("n = n + ' three'; print(n)"), "one two three", "and the next cell begins there")
three = here()
tree = t.types("%states")
rows = {int(row.split()[0]): row for row in tree.splitlines()}
ok(rows[two].index(str(two)) > rows[one].index(str(one)), "%states indents branches", tree)
ok(rows[three].rstrip().endswith("here") and "kept" in rows[two], "and says what is kept, and where it stands", tree)
ok("exception" in tree and "1/0" in tree, "with cells that failed", tree)
eq(re.fullmatch(r"[0-9]+ cells in saved.py", t.types("%save saved.py") or "") is not None, True, "%save")
eq(t.types("%keep"), f"pinned state {three}", "%keep")
eq(t.types("%keep top"), f"pinned state {three}", "with a name")
ok("kept, pinned as top" in (t.types("%states") or ""), "which %states shows")
ok("needs one word: %drop N" in (t.types("%drop") or ""), "%drop wants a number")
eq(t.types(f"%drop {three}"), f"no longer kept: state {three}", "%drop")
ok("pinned" not in (t.types("%states") or "pinned"), "and it is not pinned any more")
saved = open("saved.py", encoding="utf-8").read()
eq(saved.endswith("n = 'one'\n\nn = n + ' two'\n\nn = n + ' three'; print(n)\n\n"), True, "has the cells that led here")
ok("print(n)\n\nn = " not in saved, "and no other branch", saved)
ok("there is such a file already" in (t.types("%save saved.py") or ""), "it replaces no file")
with open("load.py", "w", encoding="utf-8") as file:
    file.write("loaded = 40\n%%\nprint(loaded + 2)\n")
eq(t.types("%load load.py"), "42", "%load runs a file's cells")
ok("cannot read" in (t.types("%load no.py") or ""), "and says when there is none")
eq(t.types("%put load.py"), "copied load.py into /work, 33 bytes", "%put")
eq(t.types("print(len(open('load.py').read()))"), "33", "copies a file into the session")
t.types("open('made.txt', 'w').write('made here')")
eq(t.types("%get made.txt"), "copied made.txt into the present folder, 9 bytes", "%get")
eq(open("made.txt", encoding="utf-8").read(), "made here", "copies one out of it")
t.types("open('made.txt', 'w').write('other'); import os; os.mkdir('d'); open('d/a b', 'w').write('1')")
eq(t.types("%get made.txt"), "cectl: made.txt: there is such a file already", "%get replaces no file")
eq(open("made.txt", encoding="utf-8").read(), "made here", "and leaves it as it was")
eq(t.types("%get nope"), "cectl: no file below /work has the name nope", "it says when there is none")
eq(t.types("%get d"), "cectl: d is a folder; %get d/* copies the files in it", "and when it is a folder")
ok(not os.path.exists("d"), "of which it copies none")
eq(t.types("%get made.txt /tmp"), "cectl: no file below /work has the name made.txt /tmp, which is all that follows %get", "all that follows is one name")
eq(t.types("%get d/*"), "copied d/a b into the present folder, 1 byte", "files of a folder")
eq(t.types("%get d/a b"), "cectl: d/a b: there is such a file already", "a name with a blank")
ok("No such file" in (t.types("%put no.txt") or ""), "%put says when there is no such file")
ok("it is a folder" in (t.types("%put d") or ""), "and when it is a folder")
ok("made.txt" in (t.types("%files") or ""), "%files lists them")
ok(session in (t.types("%limits") or ""), "%limits has the session's id")

# ---- Ctrl-C and Ctrl-D --------------------------------------------------------------------------

t.types("v = 'before'")
t.send("import time; v = 'lost'; print('begun'); time.sleep(50)\n")
ok(t.wait("begun\r\n") is not None, "a cell runs")
t.send(CTRL["C"])
told = t.prompt()
ok(told and "canceled" in told and "this cell is undone; the session is back in state" in told, "Ctrl-C cancels the cell, and says what became of it", told)
eq(t.types("print(v)"), "before", "and not the session")
t.send(CTRL["D"])
eq(t.ends(), 0, "Ctrl-D closes the session")
left = ALLOWED.sub("", t.all)
ok("\033" not in left, "nothing else has reached the terminal", [left[max(0, i - 40):i + 40] for i in [left.find("\033")]])

# ---- another time -------------------------------------------------------------------------------

t = Terminal("--limit", "wall=60s")
eq(t.types(UP + UP + UP), "", "the history is there the next time")
t.send("import time; print('begun'); time.sleep(50)\n")
t.wait("begun\r\n")
t.send(CTRL["C"])
told = t.prompt()
ok(told and "canceled" in told, "Ctrl-C in another session", told)
t.send("%exit\n")
eq(t.ends(), 0, "%exit ends it")

t = Terminal("--limit", "wall=60s")
t.send("import time; print('begun'); time.sleep(50)\n")
t.wait("begun\r\n")
t.send(CTRL["C"])
told = t.prompt()
ok(told and "the session begins anew" in told, "when the first cell is cancelled, the session begins anew", told)
eq(t.types("print('new')"), "new", "and can be used")
client = Client()
client.call("session.close", session=client.call("session.list")["sessions"][0]["session"])
ok(t.wait("the session has ended: somebody closed it") is not None, "the end of the session is told while the prompt waits", t.all[-300:])
eq(t.ends(), 0, "and ends cectl")

t = Terminal("--idle", "2s")
ok(t.wait("the session has ended: no cell ran in it for 2.00 s; --idle TIME allows more") is not None, "so is the reason", t.all[-300:])
t.ends()

t = Terminal("--limit", "wall=60s")
t.send("half a li")
t.wait("half a li")
before = termios.tcgetattr(t.fd)[3] & termios.ICANON
os.kill(t.pid, signal.SIGTERM)
while t.read():
    pass
after = termios.tcgetattr(t.fd)[3] & termios.ICANON
eq((before, bool(after)), (0, True), "a signal leaves the terminal as it was")
eq(os.waitstatus_to_exitcode(os.waitpid(t.pid, 0)[1]), -signal.SIGTERM, "and ends cectl")
ok(wait_until(lambda: not client.call("session.list")["sessions"]), "no session is left")

# ---- the history's file -------------------------------------------------------------------------

with open(HISTORY, "w", encoding="utf-8") as file:
    file.writelines(f"line_{number}\n" for number in range(3000))
os.chmod(HISTORY, 0o644)
t = Terminal("--limit", "wall=60s")
t.send(UP)
ok(t.wait("line_2999") is not None, "the newest line is the first")
t.send(CTRL["U"] + CTRL["D"])
t.ends()
lines = open(HISTORY, encoding="utf-8").read().splitlines()
eq((len(lines), lines[0], stat.S_IMODE(os.stat(HISTORY).st_mode)), (1000, "line_2000", 0o600), "the file is cut, and private again")
os.unlink(HISTORY)
os.symlink("/dev/null", HISTORY)
t = Terminal("--limit", "wall=60s")
t.types("1")
t.send(UP)
ok(t.wait(r">>> 1") is not None, "without a file there is a history all the same")
t.send(CTRL["U"] + CTRL["D"])
t.ends()
ok(os.path.islink(HISTORY), "and a link is left alone")
os.unlink(HISTORY)
open(HISTORY, "w", encoding="utf-8").close()
done()
