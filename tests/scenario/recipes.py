"""Runs what a page shows, and compares.

    recipes.py README.md          the commands of its console blocks must print what stands below them
    recipes.py --write README.md  writes what they print into the page

A block is typed into one shell, in the present folder. What differs from run to run is compared, and
written, as in MASKS.
"""

import difflib
import os
import re
import signal
import subprocess
import sys

MASKS = [
    (r"\b01[0-9A-HJKMNP-TV-Z]{24}\b", "01K6RUN0000000000000000000"),
    (r"sha256:[0-9a-f]{64}", "sha256:" + "0" * 64),
    (r"\b\d+(\.\d+)? (us|ms|s|min)\b", "… ms"),
    (r'("cpu_ms"): \d+', r"\1: 59900"),
    (r"0x[0-9a-f]{8,}", "0x7f0000000000"),
]
TIMEOUT_S = 150
MARK = "--- recipes.py: the next command ---"
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.M | re.S)


def masked(text):
    for pattern, instead in MASKS:
        text = re.sub(pattern, instead, text)
    return text


def commands(block):
    """The commands of a block. One may go on in lines that begin with `> `."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append([line[2:]])
        elif line.startswith("> ") and found:
            found[-1].append(line[2:])
    return ["\n".join(lines) for lines in found]


def typed(block):
    """The block as a terminal shows it."""
    script = "".join(f"{command}\necho '{MARK}'\n" for command in commands(block))
    shell = subprocess.Popen(["bash", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, encoding="utf-8", start_new_session=True)
    try:
        out = shell.communicate(timeout=TIMEOUT_S)[0]
    except subprocess.TimeoutExpired:
        sys.exit(f"a command did not end within {TIMEOUT_S} s: {commands(block)}")
    finally:
        try:
            os.killpg(shell.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass  # nothing was left in the background
    parts = out.split(MARK + "\n")
    shown = ["$ " + command.replace("\n", "\n> ") + "\n" + part for command, part in zip(commands(block), parts)]
    return "".join(part if part.endswith("\n") else part + "\n" for part in shown)


def main():
    write, path = sys.argv[1] == "--write", sys.argv[-1]
    with open(path, encoding="utf-8") as file:
        page = file.read()
    blocks = BLOCK.findall(page)
    if not blocks:
        sys.exit(f"{path} has no console block")
    now = iter([masked(typed(block)) for block in blocks])
    found = BLOCK.sub(lambda _: next(now), page)
    if write:
        with open(path, "w", encoding="utf-8") as file:
            file.write(found)
        return
    hoped = BLOCK.sub(lambda block: masked(block[0]), page)
    sys.stderr.writelines(difflib.unified_diff(hoped.splitlines(True), found.splitlines(True), path, "what was printed"))
    sys.exit(found != hoped)


main()
