"""The steps of a page whose examples are typed: splits them for pages.sh, drives MCP, and compares.

A block of a page is a step, or several:

  ```console    commands after `$ `, continued after `> `, each with its output below
  ```sh         lines for a shell, which must end with 0
  ```python     a program; so are ```js, ```ts and ```lua
  ```mcp        what an MCP client sends after `→ ` and what it must get after `← `, as JSON
  ```output     what the step above prints
  <!-- NAME --> in front of a block of any kind: the block is a file of that name
  <!-- typed by TEST --> in front of a block: that test types it, with --typed-by TEST

In what a page prints, `…` stands for anything on its line, and alone on a line for any lines.  In JSON
the key `…` stands for other keys.

A step ends with 0.  A command may fail if the page shows that: it prints a line that begins with
`cectl: ` or `✗ `.  It must fail if the page ends it with the comment `# fails`.

  pages.py split PAGE FOLDER [--section HEADING | --without HEADING] [--only KIND,KIND] [--typed-by TEST]
                                                                        writes NNN.KIND, and NNN.hoped
  pages.py status STEP STATUS                                           exits with 1 and says why it is wrong
  pages.py compare HOPED FOUND [--measured] [--json]                    exits with 1 and says how they differ
  pages.py mcp STEP                                                     prints each answer in a line
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

# What differs each time, on every page.
DIFFERS = (
    (r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b", "RUN"),
    (r"sha256:[0-9a-f]{64}", "DIGEST"),
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?( [+-]\d{4})?", "MOMENT"),
    (r"\b\d+\.\d+ (us|ms|s)\b|\b\d+ us\b", "TIME"),
    (r"\bpid \d+", "pid N"),
)
# And where a page shows measurements (--measured).
MEASURED = (
    (r"\b[0-9a-f]{64}\b", "DIGEST"),
    (r"\(?(just now|\d+ s ago)\)?", "AGO"),
    (r"\b[\d.]+ (us|ms|s)\b", "TIME"),
    (r"\b[\d.]+ ([KMG]i)?B\b", "SIZE"),
    (r"\b\d+\.\d+ x", "RATIO"),
    (r"\b(uid) \d+", r"\1 N"),
    (r"[█▁▂▃▄▅▆▇]+", ""),
    (r"─+", "─"),
    (r"[ \t\r]+", " "),
)
PROGRAMS = ("python", "js", "ts", "lua")
BLOCK = re.compile(r"^(?:<!-- (?P<mark>[^\n]+) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"^\$ (.*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)", re.M)


def section_of(text, heading):
    return re.search(rf"^##+ {re.escape(heading)}$.*?(?=^## |\Z)", text, re.M | re.S)


def steps(text, typed_by=None):
    """(kind, text, hoped or None) in the order of the page; the third of a `file` is its name."""
    blocks = list(BLOCK.finditer(text))
    for number, block in enumerate(blocks):
        mark, kind, content = block.group("mark", "kind", "text")
        follows = blocks[number + 1] if number + 1 < len(blocks) else None
        hoped = follows["text"] if follows is not None and follows["kind"] == "output" else None
        typist = mark.removeprefix("typed by ") if mark and mark.startswith("typed by ") else None
        if typist != typed_by:
            continue
        if mark and not typist:
            yield "file", content, mark + "\n"
        elif kind == "console":
            for command, output in COMMAND.findall(content):
                yield "console", command.replace("\n> ", "\n"), output
        elif kind in PROGRAMS or kind == "sh":
            yield kind, content, hoped
        elif kind == "mcp":
            yield from mcp_steps(content)
        elif kind != "output":
            yield "untyped", content, ""


def mcp_steps(content):
    """All messages that are sent, and all answers, as one step."""
    said = re.split(r"^([→←]) ", content, flags=re.M)[1:]
    sent, hoped = ([json.loads(message) for arrow, message in zip(said[::2], said[1::2]) if arrow == way]
                   for way in "→←")
    yield "mcp", "".join(json.dumps(message) + "\n" for message in sent), json.dumps(hoped, ensure_ascii=False)


def split(arguments):
    text = pathlib.Path(arguments.page).read_text(encoding="utf-8")
    if arguments.section:
        text = section_of(text, arguments.section)[0]
    if arguments.without:
        text = text.replace(section_of(text, arguments.without)[0], "")
    count = 0
    chosen = [step for step in steps(text, arguments.typed_by) if not arguments.only or step[0] in arguments.only.split(",")]
    for count, (kind, content, hoped) in enumerate(chosen, 1):
        stem = pathlib.Path(arguments.folder, f"{count:03}")
        stem.with_suffix(f".{kind}").write_text(content, encoding="utf-8")
        if hoped is not None:
            stem.with_suffix(".hoped").write_text(hoped, encoding="utf-8")
    print(count)
    return 0


# What a command that fails prints.
FAILS = re.compile(r"^(cectl: |✗ )", re.M)


def status(arguments):
    """Whether the page says that its step ends so."""
    step = pathlib.Path(arguments.step)
    hoped = step.with_suffix(".hoped")
    said = step.suffix == ".console" and step.read_text(encoding="utf-8").rstrip().endswith("# fails")
    may = step.suffix == ".console" and FAILS.search(hoped.read_text(encoding="utf-8"))
    if said != (arguments.status != 0) and not (may and not said):
        print(f"it ends with {arguments.status}, and the page says otherwise")
        return 1
    return 0


# ---- comparing -----------------------------------------------------------------------------------


def steady(text, measured):
    lines = []
    for line in text.strip("\n").split("\n"):
        masked = line
        for pattern, word in DIFFERS + (MEASURED if measured else ()):
            masked = re.sub(pattern, word, masked)
        if "TIME" in masked:  # columns move with it
            masked = re.sub(r" +", " ", masked)
        lines.append(masked.strip() if measured else masked.rstrip())
    return lines


def pattern_of(hoped, measured):
    lines = []
    for line in steady(hoped, measured):
        if line.strip() == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*".join(re.escape(part) for part in line.split("…")) + "\n")
    return "".join(lines)


def is_like(hoped, found, measured):
    """Whether a text, or a document of JSON, is what the page has.  A key `…` stands for more keys."""
    if isinstance(hoped, str) and isinstance(found, str):
        return re.fullmatch(pattern_of(hoped, measured), "\n".join(steady(found, measured)) + "\n") is not None
    if isinstance(hoped, dict) and isinstance(found, dict):
        keys = hoped.keys() - {"…"}
        return (keys <= found.keys() if "…" in hoped else keys == found.keys()) and all(
            is_like(hoped[key], found[key], measured) for key in keys)
    if isinstance(hoped, list) and isinstance(found, list):
        return len(hoped) == len(found) and all(is_like(*pair, measured) for pair in zip(hoped, found))
    return hoped == found


def compare(arguments):
    hoped, found = (pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
                    for path in (arguments.hoped, arguments.found))
    documents = json.loads(hoped) if arguments.json else hoped
    answers = [json.loads(line) for line in found.splitlines()] if arguments.json else found
    if is_like(documents, answers, arguments.measured):
        return 0
    for word, text in ("hoped", hoped), ("found", found):
        print("".join(f"{word}: {line}\n" for line in text.splitlines()), end="")
    return 1


# ---- MCP -----------------------------------------------------------------------------------------


def mcp(arguments):
    """Sends each message and prints its answer as one line of JSON, in the order of the requests."""
    server = subprocess.Popen(["cectl", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              encoding="utf-8")
    for line in pathlib.Path(arguments.step).read_text(encoding="utf-8").splitlines():
        server.stdin.write(line + "\n")
        server.stdin.flush()
        sent = json.loads(line)
        while "id" in sent:
            answer = server.stdout.readline()
            if not answer or json.loads(answer).get("id") == sent["id"]:
                print(answer, end="")
                break
    server.stdin.close()
    return server.wait()


def main():
    parser = argparse.ArgumentParser()
    words = parser.add_subparsers(required=True)
    word = words.add_parser("split")
    word.add_argument("page")
    word.add_argument("folder")
    word.add_argument("--section")
    word.add_argument("--without")
    word.add_argument("--only")
    word.add_argument("--typed-by")
    word.set_defaults(do=split)
    word = words.add_parser("status")
    word.add_argument("step")
    word.add_argument("status", type=int)
    word.set_defaults(do=status)
    word = words.add_parser("compare")
    word.add_argument("hoped")
    word.add_argument("found")
    word.add_argument("--measured", action="store_true")
    word.add_argument("--json", action="store_true", help="the answers of an MCP server")
    word.set_defaults(do=compare)
    word = words.add_parser("mcp")
    word.add_argument("step")
    word.set_defaults(do=mcp)
    arguments = parser.parse_args()
    return arguments.do(arguments)


sys.exit(main())
