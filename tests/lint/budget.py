"""The privileged program stays small enough to read in one sitting.

Counts what is linked into ced-spawner: the C files its debug information names, and the headers
of ours that these include.  The ceiling is on lines of code; blank lines and comments are
counted beside them but never held against anybody.

    budget.py path/to/ced-spawner
"""

import pathlib
import re
import subprocess
import sys

CEILING = 3500
SKIPPED = 77


def linked_sources(program, root):
    """The C files of ours in the program.  Files made by the build have no lines to read."""
    dump = subprocess.run(
        ["objdump", "--dwarf=info", "--dwarf-depth=1", program],
        check=True, capture_output=True, text=True, errors="replace",
    ).stdout
    names = re.findall(r"DW_AT_name\s*:(?:.*\):)?\s*(\S+\.c)\s*$", dump, re.MULTILINE)
    # A compiler cache makes them relative to the build folder.
    paths = {(root / re.sub(r"^(\.\./)+", "", name)).resolve() for name in names}
    return {path for path in paths if path.is_relative_to(root) and path.is_file()
            and "build" not in path.relative_to(root).parts[:1]}


def with_headers(paths, root):
    seen, waiting = set(), set(paths)
    while waiting:
        path = waiting.pop()
        seen.add(path)
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE):
            if (root / name).is_file():
                waiting |= {root / name} - seen
    return seen


def count(path):
    """Lines of code, and all lines."""
    text = path.read_text()
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    code = re.sub(r"//[^\n]*", "", code)
    return sum(bool(line.strip()) for line in code.splitlines()), len(text.splitlines())


def main():
    program = pathlib.Path(sys.argv[1])
    root = pathlib.Path(__file__).resolve().parents[2]
    if not program.exists():
        print("1..0 # SKIP ced-spawner is not built")
        return SKIPPED

    files = with_headers(linked_sources(program, root), root)
    rows = sorted((*count(path), str(path.relative_to(root))) for path in files)
    code, lines = sum(row[0] for row in rows), sum(row[1] for row in rows)
    for row in reversed(rows):
        print(f"{row[0]:6} {row[1]:6}  {row[2]}")
    print(f"{code:6} {lines:6}  code and all lines in {len(rows)} files; {CEILING} of code allowed")
    if not rows:
        print("no file of ours is named in the debug information: is it stripped?")
    return int(code > CEILING or not rows)


sys.exit(main())
