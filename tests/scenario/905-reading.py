"""Runs the commands of docs/operations/record.md about reading the record, and compares their output.  TAP.

In the section `Reading the record`, blocks ```console have commands after `$ ` and their output.
Ids, digests, times, durations, sizes and bars differ each time; a line `…` stands for any lines.
"""

import os
import re
import subprocess
import sys

page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/operations/record.md")
NOISE = (
    (r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "RUN"),
    (r"\b[0-9a-f]{64}\b", "DIGEST"),
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?( [+-]\d{4})?", "MOMENT"),
    (r"\(?(just now|\d+ s ago)\)?", "AGO"),
    (r"\b[\d.]+ (us|ms|s)\b", "TIME"),
    (r"\b[\d.]+ ([KMG]i)?B\b", "SIZE"),
    (r"\b\d+\.\d+ x", "RATIO"),
    (r"(uid|pid) \d+", "\\1 N"),
    (r"[█▁▂▃▄▅▆▇]+", ""),
    (r"─+", "─"),
    (r"[ \t\r]+", " "),
)


def steady(line):
    for pattern, word in NOISE:
        line = re.sub(pattern, word, line)
    return line.strip()


def is_like(found, hoped):
    """Whether all lines are as expected; `…` matches as few lines as possible."""
    if not hoped:
        return not found
    if hoped[0] == "…":  # steady() has stripped the line
        return any(is_like(found[skip:], hoped[1:]) for skip in range(len(found) + 1))
    return bool(found) and found[0] == hoped[0] and is_like(found[1:], hoped[1:])


def lines(text):
    return [steady(line) for line in text.rstrip("\n").split("\n")] if text.strip("\n") else []


def main():
    with open(page, encoding="utf-8") as file:
        section = re.search(r"^##+ Reading the record$(.*?)^##", file.read(), re.M | re.S)[1]
    blocks = re.findall(r"^```console\n(.*?)^```$", section, re.M | re.S)
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks), re.M)
    failed = len(commands) < 8
    for count, (command, hoped) in enumerate(commands, 1):
        found = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, stdin=subprocess.DEVNULL, timeout=60, check=False).stdout
        good = is_like(lines(found), lines(hoped))
        failed |= not good
        print("ok" if good else "not ok", count, "-", command)
        for word, text in (("found", found), ("hoped", hoped)):
            for line in [] if good else text.splitlines():
                print(f"# {word}: {line}")
    print(f"1..{len(commands)}")
    sys.exit(failed)


main()
