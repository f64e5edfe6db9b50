"""What the pages for people name is there: files, functions, words of ./dev, presets, tests, links.

Looks at code spans (`like this`) and links in every tracked .md file, and at the commands in their
sh and console blocks.  A path may be written from the root or from the page's own folder, with * or
<placeholder> in it; a .c, .h and the like may go by its bare name.  A function is written with ().
What the build makes, what begins with / or $, and other people's file names are no business of ours.
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


# ---- what there is -------------------------------------------------------------------------------


def without_comments(text):
    """C with its comments and texts taken out: a function that is only talked about is not there."""
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
        self.presets = set(re.findall(r'"name": "(\w+)"', presets))

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


# ---- what a page says ----------------------------------------------------------------------------


def is_path(word, tree):
    if not re.fullmatch(r"[\w.*<>\[\]/-]+", word) or re.match(r"/|\.\./|build(/|$)", word):
        return False
    if word.startswith("-") or word.strip(".") == "":
        return False
    if "/" in word:
        return word.split("/")[0] in tree.tops or word.endswith(OURS)
    return word.endswith(OURS) or word in ("CMakeLists.txt", "CMakePresets.json", "packages.apt")


def about_span(span, folder, tree):
    """What is wrong with one code span, if anything."""
    function = re.fullmatch(r"(\w+)\(.*\)", span)
    test = re.fullmatch(r"(unit|cases|scenario|jail|lint|vm)\.([\w-]+)", span)
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
    for word in re.findall(r"\b(?:cmake|ctest)\b[^`\n]* --preset (\w+)", text):
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


def about_line(line, page, tree):
    spans = [span for _, span in re.findall(r"(`+)(.+?)\1(?!`)", line)]
    folder = str(page.parent) if page.parent.name else ""
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


def main():
    names = tracked()
    if names is None:
        print("1..0 # SKIP not a git checkout")
        return SKIPPED
    tree = Tree(names)
    pages = [name for name in names if name.endswith(".md")]
    found = [text for name in pages for text in complaints(name, tree)]
    print("\n".join(found) or f"docs: ok, {len(pages)} pages")
    return int(bool(found))


sys.exit(main())
