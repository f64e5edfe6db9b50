"""Everything that a page names exists: files, functions, commands of ./dev, presets, tests, links.

Reads code spans (`like this`) and links in every tracked .md file, and the commands in sh and
console blocks.  A path is written from the root or from the page's own folder, with * or
<placeholder> in it; a .c, .h and the like may go by its bare name.  A function is written with ().
Not checked: files that the build makes, paths that begin with / or $, and file names of others.

The test that a mark `<!-- typed by TEST -->` names is there and reads that page.
ARCHITECTURE.md names every folder of source.  The index of docs/decisions lists every record with its title; --index writes that list.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

SKIPPED = 77
CODE = (".c", ".h")
# Endings that are a path of ours even without a folder in front.
OURS = CODE + (".cmake", ".scm", ".sql", ".t", ".md", ".sh")


def tracked():
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(words, capture_output=True, check=False)
    if listing.returncode != 0:
        return None
    names = listing.stdout.decode().split("\0")
    return sorted({name for name in names if name and pathlib.Path(name).is_file()})


# ---- the tree ------------------------------------------------------------------------------------


def without_comments(text):
    """C without comments and strings: a function that only they name does not exist."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.DOTALL)


def functions_in(name):
    text = pathlib.Path(name).read_text(encoding="utf-8", errors="replace")
    if name.endswith(CODE):
        text = without_comments(text)
        yield from re.findall(r"\b(?:NR\(|SYS_|__NR_)(\w+)", text)
    yield from re.findall(r"\b([A-Za-z_]\w*)\s*\(", text)


class Tree:
    def __init__(self, names):
        self.files = names
        self.folders = {str(folder) for name in names for folder in pathlib.PurePath(name).parents}
        self.tops = {name.split("/")[0] for name in names}
        pages = [name for name in names if not name.endswith(".md")]
        sources = [name for name in pages if name.endswith(CODE + (".py", ".sh", ".cmake", ".txt"))
                   and "/corpus/" not in name]
        self.functions = {function for name in sources for function in functions_in(name)}
        dev = pathlib.Path("dev").read_text(encoding="utf-8")
        self.dev_words = set(re.findall(r"^(\w+)(?: \|.*)?\) \w+", dev.split("case $command")[1], re.M))
        commands = (path.read_text(encoding="utf-8") for path in pathlib.Path("cli/commands").glob("*.c"))
        self.cectl_words = {word for text in commands
                            for word in re.findall(r'\.name = "([a-z-]+)[ "]', text)}
        presets = pathlib.Path("CMakePresets.json").read_text(encoding="utf-8")
        self.presets = set(re.findall(r'"name": "([\w-]+)"', presets))

    def has(self, path, folder):
        """Is there such a file or folder, seen from the root or from a folder?"""
        pattern = re.sub(r"<[^>]*>", "*", path).rstrip("/")
        for start in {"", f"{folder}/"}:
            whole = str(pathlib.PurePath(start) / pattern)
            if whole in self.folders or fnmatch.filter(self.files, whole):
                return True
            if whole.startswith("..") and pathlib.Path(whole).exists():
                return True
        return "/" not in pattern and bool(fnmatch.filter(self.files, f"*/{pattern}"))

    def has_test(self, label, name):
        stem = name.replace("_", "?")
        return any(self.has(f"tests/{label}/{form}", "") for form in (
            f"test_{stem}.c", f"{stem}.t", f"{label}_{stem}.c", f"{label}_{stem}.t", f"{stem}.py",
            f"{stem}.sh", f"{label}_{stem}*"))


# ---- a page --------------------------------------------------------------------------------------


def is_path(word, tree):
    if not re.fullmatch(r"[\w.*<>\[\]/-]+", word) or re.match(r"/|\.\./|build(/|$)", word):
        return False
    if word.startswith("-") or word.strip(".") == "":
        return False
    if "/" in word:
        return word.split("/")[0] in tree.tops or word.endswith(OURS)
    return word.endswith(OURS) or word in ("CMakeLists.txt", "CMakePresets.json", "packages.apt")


def about_span(span, folder, tree):
    """The fault of one code span, or None."""
    function = re.fullmatch(r"(\w+)\(.*\)", span)
    test = re.fullmatch(r"(unit|cases|scenario|jail|lint|vm|fresh)\.([\w-]+)", span)
    if function and function[1] not in tree.functions:
        return f"there is no function {function[1]}()"
    if test and not tree.has_test(test[1], test[2]):
        return f"there is no test {span}"
    if not test and is_path(span.removeprefix("./"), tree):
        if not tree.has(span.removeprefix("./"), folder):
            return f"there is no {span}"
    return None


def about_command(text, tree):
    for word in re.findall(r"\./dev (\w+)", text):
        if word not in tree.dev_words:
            yield f"./dev does not know {word}"
    for word in re.findall(r"\b(?:cmake|ctest)\b[^`\n]* --preset ([\w-]+)", text):
        if word not in tree.presets:
            yield f"there is no preset {word}"
    for word in re.findall(r"(?:^|\$ |`|sudo )cectl ([a-z][a-z-]*)\b", text, re.M):
        if word not in tree.cectl_words | {"help"}:
            yield f"cectl has no command {word}"


def slug(heading):
    text = re.sub(r"[^\w\- ]", "", re.sub(r"`|\[([^]]*)\]\([^)]*\)", r"\1", heading).lower())
    return text.strip().replace(" ", "-")


def anchors_of(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    return {slug(heading) for heading in re.findall(r"^#+ +(.*)$", text, re.M)}


def about_link(target, page):
    if re.match(r"[a-z]+:", target):
        return None
    path, _, anchor = target.partition("#")
    place = page.parent / path if path else page
    if not place.exists():
        return f"the link {target} leads nowhere"
    if anchor and anchor not in anchors_of(place):
        return f"the link {target} has no such heading"
    return None


def lines_of(page):
    """(number, line, language of the block it is in or None)"""
    language = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = re.match(r"\s*```(\w*)", line)
        if fence:
            language = None if language is not None else fence[1]
            continue
        yield number, line, language


def about_mark(line, page):
    """The fault of a mark that leaves a block to a test, or None."""
    mark = re.fullmatch(r"<!-- typed by (?:(\w+)\.)?([\w-]+) -->", line)
    if not mark:
        return None
    test = pathlib.Path("tests", mark[1] or "scenario", f"{mark[2]}.t")
    if not test.is_file() or page.name not in test.read_text(encoding="utf-8"):
        return f"{test} does not type blocks of {page.name}"
    return None


def about_line(line, page, tree):
    yield about_mark(line, page)
    spans = [span for _, span in re.findall(r"(`+)(.+?)\1(?!`)", line)]
    folder = str(page.parent) if page.parent.name else ""
    if folder != "docs/decisions":  # a record names what was there when it was written
        for span in spans:
            yield about_span(span.strip(), folder, tree)
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"(`+)(.+?)\1(?!`)", "code", line)):
        yield about_link(target, page)
    yield from about_command(" ".join(f"`{span}`" for span in spans), tree)


def complaints(name, tree):
    page = pathlib.Path(name)
    for number, line, language in lines_of(page):
        if language is None:
            said = about_line(line, page, tree)
        elif language in ("sh", "console"):
            said = about_command(line, tree)
        else:
            continue
        for text in filter(None, said):
            yield f"{name}:{number}: {text}"


# ---- the list of folders -------------------------------------------------------------------------

FOLDERS = pathlib.Path("docs/ARCHITECTURE.md")
# A folder whose sources are parts of another's is named by that one.
WHOLE = ("sandbox/runtimes",)


def about_folders(names):
    """Each folder that holds C of ours has a row in the table of folders."""
    named = set(re.findall(r"^\| `([\w/]+)` \|", FOLDERS.read_text(encoding="utf-8"), re.M))
    tops = ("proto/", "sandbox/", "store/", "daemon/", "cli/")
    folders = {str(pathlib.PurePath(name).parent) for name in names
               if name.startswith(tops) and name.endswith(CODE)}
    for folder in sorted(folders - named):
        if not folder.startswith(tuple(f"{whole}/" for whole in WHOLE)):
            yield f"{FOLDERS}: there is no row for {folder}"


# ---- the index of decisions ----------------------------------------------------------------------

INDEX = pathlib.Path("docs/decisions/README.md")


def index_rows():
    """One line for each record, in the order of their numbers; a record's first line is its title."""
    for record in sorted(INDEX.parent.glob("[0-9]*.md")):
        number, _, title = record.read_text(encoding="utf-8").split("\n")[0].removeprefix("# ").partition(": ")
        if not record.name.startswith(f"{number}-") or not title:
            yield f"* [{record.name}]({record.name})"  # about_index() complains: its title is not "# NNNN: title"
        else:
            yield f"* [{number}]({record.name}): {title}"


def about_index():
    rows = list(index_rows())
    there = [line for line in INDEX.read_text(encoding="utf-8").splitlines() if line.startswith("* [")]
    if there != rows:
        yield f"{INDEX}: the list is not that of the records: python3 tests/lint/docs.py --index"
    for row in rows:
        if "): " not in row:
            yield f"{INDEX.parent}/{row[3:].partition(']')[0]}: it does not begin with its number and title"


def write_index():
    lines = [line for line in INDEX.read_text(encoding="utf-8").splitlines() if not line.startswith("* [")]
    INDEX.write_text("\n".join([*lines, *index_rows()]) + "\n", encoding="utf-8")


def main():
    if "--index" in sys.argv:
        write_index()
        return 0
    names = tracked()
    if names is None:
        print("1..0 # SKIP not a git checkout")
        return SKIPPED
    tree = Tree(names)
    pages = [name for name in names if name.endswith(".md")]
    found = [text for name in pages for text in complaints(name, tree)] + list(about_folders(names)) + list(about_index())
    print("\n".join(found) or f"docs: ok, {len(pages)} pages")
    return int(bool(found))


sys.exit(main())
