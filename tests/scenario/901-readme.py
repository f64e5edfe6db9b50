"""Runs the commands and programs of README.md and compares their output with the page.  TAP.

A block ```console has commands after `$ ` and their output.  ```python is a program, and the next block
```output is its output.  Run ids and digests differ each time; nothing else may.
"""

import os
import re
import subprocess
import sys

readme = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../README.md")
count = 0


def tell(held, name, found="", hoped=""):
    global count
    count += 1
    print(f"{'ok' if held else 'not ok'} {count} - {name}")
    if not held:
        for word, text in ("found", found), ("hoped", hoped):
            for line in text.splitlines():
                print(f"# {word}: {line}")


def blocks(text):
    """(language, text) in the order of the page."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def steady(text):
    text = re.sub(r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "RUN", text)
    return re.sub(r"sha256:[0-9a-f]{64}", "DIGEST", text).strip()


def output_of(command):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         stdin=subprocess.DEVNULL, timeout=60, check=False)
    return run.stdout


def type_console(text):
    for command, hoped in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        if command.startswith("export "):
            continue  # the scenario knows the folder of the programs
        found = output_of(["bash", "-c", command])
        tell(steady(found) == steady(hoped), command, found, hoped)


def main():
    with open(readme, encoding="utf-8") as file:
        parts = blocks(file.read())
    for index, (language, text) in enumerate(parts):
        if language == "console":
            type_console(text)
        if language == "python":
            follows, hoped = parts[index + 1]
            found = output_of(["/usr/bin/python3", "-c", text])
            tell(follows == "output" and steady(found) == steady(hoped), "the client in Python",
                 found, hoped)
    tell(count >= 4, "there is something to type")
    print(f"1..{count}")


main()
