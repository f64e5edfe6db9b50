"""cectl top in a pseudo-terminal: its frames, its reaction to a new size, and every way to leave it."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
import unicodedata

TAKE, GIVE = b"\033[?1049h", b"\033[?1049l"
# The allowed escape sequences: enter and leave the alternate screen, cursor home, erase, colours.
ALLOWED = re.compile(rb"\033\[(\?1049[hl]|\?25[hl]|\?7[hl]|2J|H|K|J|[0-9;]*m)")
failed = 0


def ok(good, name, found=None):
    global failed
    failed += not good
    print("ok" if good else "not ok", "-", name, *([] if good or found is None else [repr(found)]), flush=True)


def shell(told):
    """In the new session: sets the foreground job of the terminal as a shell does."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTOU, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTOU, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        time.sleep(0.2)  # until the size is set
        os.execvp("cectl", ["cectl", "top", "--interval", "200ms"])
    os.write(told, b"%d\n" % job)
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            os.write(told, b"stopped\n")
        else:
            os._exit(os.WTERMSIG(status) + 128 if os.WIFSIGNALED(status) else status >> 8)


class Top:
    def __init__(self, columns=100, rows=40, **env):
        told, tell = os.pipe()
        self.shell, self.master = pty.fork()
        if self.shell == 0:
            os.environ.update({"TERM": "xterm", **env})
            shell(tell)
        os.close(tell)
        self.told = os.fdopen(told)
        self.pid = int(self.told.readline())
        self.before = termios.tcgetattr(self.master)
        self.resize(columns, rows)
        self.seen = b""

    def resize(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, until, seconds=60):
        """Reads until `until` accepts the output since the call."""
        new = b""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until(new):
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    piece = os.read(self.master, 65536)
                except OSError:
                    break
                new += piece
                self.seen += piece
        return new

    def frame(self):
        """The lines of the next whole frame, without colours."""
        new = self.read(lambda came: came.count(b"\033[J") >= 2)
        whole = new.split(b"\033[J")[-2].split(b"\033[H")[-1]
        return re.sub(rb"\033\[[0-9;]*[mK]", b"", whole).decode().replace("\r", "").split("\n")

    def leave(self, how):
        """Leaves by any way: returns the exit status, the last output, and whether the terminal is restored."""
        how(self)
        end = time.monotonic() + 60
        pid, status = 0, 0
        while not pid and time.monotonic() < end:
            self.read(lambda came: False, 0.1)
            pid, status = os.waitpid(self.shell, os.WNOHANG)
        if not pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.shell, 0)
            return "stuck", False
        self.read(lambda came: False, 0.1)
        if TAKE not in self.seen:
            return os.waitstatus_to_exitcode(status), True
        good = (self.seen.count(TAKE) == self.seen.count(GIVE)
                and self.seen.rindex(GIVE) > self.seen.rindex(TAKE)
                and self.seen.rindex(b"\033[?25h") > self.seen.rindex(b"\033[?25l")
                and termios.tcgetattr(self.master) == self.before)
        os.close(self.master)
        return os.waitstatus_to_exitcode(status), good


def width(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in line)


# Its frames.
top = Top()
frame = top.frame()
text = "\n".join(frame)
ok("ced " in frame[0] and "pid" in frame[0], "the head", frame[0])
ok(" running" in frame[1] and "runs/s" in frame[1], "the rates", frame[1])
ok("sleeper" in text and "running, the oldest first" in text, "what runs", text)
ok("the slowest of the last minute" in text, "the slowest")
ok("nosy" in text and "policy_denied" in text, "what was refused")
ok("naïve 世界" in text, "whatever the names are written in")
for columns, rows in ((60, 24), (40, 12), (140, 50), (20, 3), (80, 24)):
    top.resize(columns, rows)
    top.frame()
    frame = top.frame()
    ok(len(frame) <= rows, f"{columns}x{rows}: as many lines as there are", len(frame))
    ok(all(width(line) <= columns for line in frame), f"{columns}x{rows}: none too wide", frame)
ok(not re.search(rb"\033(?!\[)", ALLOWED.sub(b"", top.seen)) and b"\033" not in ALLOWED.sub(b"", top.seen),
   "nothing else is sent to the terminal", ALLOWED.sub(b"", top.seen)[:300])
ok(termios.tcgetattr(top.master)[3] & termios.ECHO == 0, "keys are not echoed")

# Ctrl-Z gives the terminal back, and `fg` takes it again.
os.write(top.master, b"\x1a")
top.read(lambda came: GIVE in came, 5)
ok(top.told.readline() == "stopped\n", "Ctrl-Z stops it")
ok(termios.tcgetattr(top.master) == top.before, "with the terminal as it was")
os.kill(top.pid, signal.SIGCONT)
ok(TAKE in top.read(lambda came: TAKE in came, 5), "and it goes on")
top.frame()
ok(top.leave(lambda it: os.write(it.master, b"q")) == (0, True), "q leaves")

# Every other way to leave.
ways = {
    "Ctrl-C": (lambda it: os.write(it.master, b"\x03"), 128 + signal.SIGINT),
    "SIGTERM": (lambda it: os.kill(it.pid, signal.SIGTERM), 128 + signal.SIGTERM),
    "SIGHUP": (lambda it: os.kill(it.pid, signal.SIGHUP), 128 + signal.SIGHUP),
    "Ctrl-\\": (lambda it: os.write(it.master, b"\x1c"), 128 + signal.SIGQUIT),
    "Q": (lambda it: os.write(it.master, b"Q"), 0),
    "another key first": (lambda it: os.write(it.master, b"x\033[Aq"), 0),
}
for name, (how, status) in ways.items():
    top = Top()
    top.frame()
    left = top.leave(how)
    ok(left == (status, True), f"{name}: left, and the terminal is as it was", left)

top = Top(NO_COLOR="1")
top.frame()
ok(not re.search(rb"\033\[[1-9][0-9;]*m", top.seen), "no colours with NO_COLOR")
top.leave(lambda it: os.write(it.master, b"q"))
top = Top(TERM="dumb")
ok(top.read(lambda came: b"TERM" in came, 5).count(b"cannot be drawn on") == 1, "not on a dumb terminal")
ok(top.leave(lambda it: None) == (2, True), "where it is a wrong command line")

# The daemon ends while cectl top runs.
top = Top()
top.frame()
os.kill(int(sys.argv[1]), signal.SIGTERM)
said = top.read(lambda came: b"tried again" in came, 15)
ok(b"tried again" in said, "a daemon that is gone is said to be", said[-300:])
ok(top.leave(lambda it: os.write(it.master, b"q")) == (0, True), "and q leaves even so")
sys.exit(failed > 0)
