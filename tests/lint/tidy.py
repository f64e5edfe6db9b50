"""clang-tidy over our own files, each of them once for its content.

    tidy.py BUILD-FOLDER

BUILD-FOLDER has compile_commands.json with flags that clang knows.  What clang-tidy sees of a file is
its preprocessed text, the flags and the checks; a file that passed is noted by a digest of these under
$XDG_CACHE_HOME/ced-tidy and is not looked at again.  Only what passed is noted.  One process a file:
several files in one process give false warnings about va_list.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ("proto", "daemon", "sandbox", "store", "cli", "clients")
TIDY = "clang-tidy-14"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ced-tidy"


def is_ours(path):
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in ROOMS


def checks_digest():
    version = subprocess.run([TIDY, "--version"], check=True, capture_output=True).stdout
    return hashlib.sha256(version + (ROOT / ".clang-tidy").read_bytes()).digest()


def command_of(entry):
    """The compiler's command without a cache in front and without its outputs."""
    words = entry.get("arguments") or shlex.split(entry["command"])
    if pathlib.Path(words[0]).name == "ccache":
        words = words[1:]
    kept, skip = [], 0
    for word in words:
        if skip or word in ("-o", "-MF", "-MT"):
            skip = 0 if skip else 1
        elif word not in ("-c", "-MD"):
            kept.append(word)
    return kept


def stamp_of(entry, checks):
    """Where it is noted that this file has passed.  None: it does not even get through the preprocessor."""
    words = command_of(entry)
    text = subprocess.run([*words, "-E", "-CC"], cwd=entry["directory"], capture_output=True)
    if text.returncode:
        return None
    seen = hashlib.sha256(checks)
    # The checkout may lie anywhere.
    seen.update(" ".join(words).replace(str(ROOT), ".").encode())
    seen.update(text.stdout.replace(str(ROOT).encode(), b"."))
    return CACHE / seen.hexdigest()


def look(entry, build, checks):
    """What is wrong with it; empty when it passed, now or before."""
    stamp = stamp_of(entry, checks)
    if stamp and stamp.exists():
        return ""
    run = subprocess.run([TIDY, "--quiet", "-p", build, entry["file"]], capture_output=True, text=True)
    if run.returncode:
        return run.stdout + run.stderr
    if stamp:
        try:
            CACHE.mkdir(parents=True, exist_ok=True)
            stamp.touch()
        except OSError:
            pass  # it is looked at again next time
    return ""


def main():
    build = sys.argv[1]
    checks = checks_digest()
    entries = {}
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        if is_ours(pathlib.Path(entry["file"]).resolve()):
            entries.setdefault(entry["file"], entry)
    if not entries:
        sys.exit(f"{build}: no file of ours is in compile_commands.json")
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for complaint in pool.map(lambda entry: look(entry, build, checks), entries.values()):
            if complaint:
                bad += 1
                print(complaint, flush=True)
    print(f"{len(entries)} files, {bad} with complaints")
    return int(bad > 0)


sys.exit(main())
