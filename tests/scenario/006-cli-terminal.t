#!/bin/bash
# On a terminal nothing that a program prints can do more than be read.
. "$(dirname "$0")/lib.sh"
daemon_start

# on_terminal COMMAND...: what it writes to a terminal of 80 columns.
on_terminal() {
	TERM=xterm /usr/bin/python3 - "$@" <<'PY'
import fcntl, os, pty, struct, sys, termios
pid, master = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.execvp(sys.argv[1], sys.argv[1:])
written = b""
try:
    while chunk := os.read(master, 65536):
        written += chunk
except OSError:
    pass
os.waitpid(pid, 0)
sys.stdout.buffer.write(written.replace(b"\r\n", b"\n"))
PY
}

# left COMMAND...: what stands there in the end, when a slow run's line of progress is wiped away.
left() {
	local written
	written=$(on_terminal "$@"; echo .)
	written=${written##*$'\r\033[K'}
	printf '%s' "${written%.}"
}

program='print("a\033[31mred\033]0;owned\007\rb\u202ec")'
out=$(left cectl run -c "$program")
is "$out" 'a\x1b[31mred\x1b]0;owned\x07\rb\u{202e}c' "controls are shown escaped"
out=$(left cectl run -c 'print("grüße 世界")')
is "$out" 'grüße 世界' "text is not"
out=$(left cectl run -c 'print("no newline", end="")'; echo .)
is "$out" $'no newline\n.' "the prompt begins on a line of its own"
out=$(on_terminal cectl output last --raw)
like "$out" '--raw would let the program write to your terminal' "output --raw is refused there"

cectl run -c "raise ValueError('\\x1b[31m')" >/dev/null 2>&1
out=$(on_terminal cectl show last)
like "$out" $'\033\\[' "colour is used on a terminal"
out=$(NO_COLOR=1 on_terminal cectl show last)
unlike "$out" $'\033' "never with NO_COLOR, and a message cannot bring its own"
out=$(cectl show last)
unlike "$out" $'\033' "nor into a pipe"
out=$(NO_COLOR=1 on_terminal cectl runs)
is "$(($(wc -L <<<"$out") <= 80))" 1 "tables fit the terminal"

cectl audit checkpoint >/dev/null
out=$(NO_COLOR=1 on_terminal cectl status | grep -v /) # but for paths, which nobody cuts
is "$(($(wc -L <<<"$out") <= 80))" 1 "status goes on below where the terminal ends"
like "$(cectl status)" 'links [0-9]+, at [0-9]{4}-[0-9]{2}-[0-9]{2} ' "when something was is a date"
out=$(NO_COLOR=1 on_terminal cectl budgets)
is "$(($(wc -L <<<"$out") <= 80))" 1 "budgets leaves columns out"
is "$(grep -c 'limits of python, bash' <<<"$(cectl runtimes)")" 1 "runtimes tells the same limits once"
out=$(on_terminal cectl run --limit wall=5s --limit cpu=5s -c 'import time; time.sleep(2.2); print("done")')
like "$out" 'running for [12] s' "what takes longer than a second shows that it lives"
like "$out" $'\033\\[K.*done' "and wipes that away again"
out=$(on_terminal cectl run --json -c 'print(1)')
is "$(json "$out" 'it["outcome"]')" ok "--json on a terminal is a document too"
like "$out" $'\n  "outcome"' "indented"
done_testing
