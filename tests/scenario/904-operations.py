"""The console transcripts of docs/operations/record.md: splits them for 904-operations.t, and compares.

A block ```console has commands after `$ ` and their output below.  `…` stands for anything on
its line, and alone on a line for any lines.  Run ids, digests and keys differ each time.

  904-operations.py split FOLDER            one file NNN.command for each command, NNN.hoped
  904-operations.py compare HOPED FOUND     exits with 1 if they differ, and prints how
"""

import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/operations/record.md"


def split(folder):
    count = 0
    # 905-reading runs that section's commands, on its own store.
    text = re.sub(r"^##+ Reading the record$.*?(?=^##)", "", PAGE.read_text(encoding="utf-8"), flags=re.M | re.S)
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S):
        for command, hoped in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            count += 1
            pathlib.Path(folder, f"{count:03}.command").write_text(command + "\n", encoding="utf-8")
            pathlib.Path(folder, f"{count:03}.hoped").write_text(hoped, encoding="utf-8")
    print(count)


def steady(text):
    text = re.sub(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b", "RUN", text)
    text = re.sub(r"sha256:[0-9a-f]{64}", "DIGEST", text)
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def pattern(hoped):
    lines = []
    for line in steady(hoped).split("\n"):
        if line.strip() == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*".join(re.escape(part) for part in line.split("…")) + "\n")
    return "".join(lines)


def compare(hoped, found):
    hoped, found = (pathlib.Path(path).read_text(encoding="utf-8", errors="replace") for path in (hoped, found))
    if re.fullmatch(pattern(hoped), steady(found) + "\n"):
        return 0
    for word, text in ("hoped", hoped), ("found", found):
        print("".join(f"{word}: {line}\n" for line in text.splitlines()), end="")
    return 1


if sys.argv[1] == "split":
    split(sys.argv[2])
else:
    sys.exit(compare(sys.argv[2], sys.argv[3]))
