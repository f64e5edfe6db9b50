"""Every #include of ours points down the table, and each foreign library has one room.

The table is the one in docs/ARCHITECTURE.md.  Includes are written from the root, so the
direction can be read off each line.  tests/ and bench/ may include anything and nothing
includes them.
"""

import pathlib
import re
import sys

# A folder (the longest that fits counts) and what its files may include.
MAY = {
    "proto/base": ("proto/base/",),
    "proto": ("proto/",),
    "sandbox": ("proto/base/", "proto/internal/privmsg.h", "proto/internal/slotmsg.h", "proto/jail_dirs.h",
                "proto/version.h", "sandbox/"),
    "store": ("proto/", "store/"),
    "cli": ("proto/", "cli/"),
    "cli/base": ("proto/", "cli/base/"),
    "cli/terminal": ("proto/", "cli/base/", "cli/terminal/"),
    "cli/session": ("proto/", "cli/base/", "cli/terminal/", "cli/session/"),
    "cli/commands": ("proto/", "cli/base/", "cli/terminal/", "cli/session/", "cli/commands/",
                     "cli/doctor/doctor.h"),
    "cli/doctor": ("proto/base/", "proto/json.h", "proto/store_room.h", "cli/base/libexec.h",
                   "cli/doctor/"),
    "daemon": ("proto/", "store/store.h", "store/answers.h", "store/care.h", "store/signer.h",
               "daemon/"),
    "daemon/inspector": ("proto/base/", "proto/internal/inspectmsg.h", "proto/version.h",
                         "daemon/inspector/"),
    "clients": ("clients/",),
    "examples": ("clients/",),
}

# A file that is its folder's only door to another.
DOORS = {
    "cli/session/offline.c": ("store/answers.h", "store/care.h"),
}

# The start of a foreign header's name, and the only places that may know it.
ROOMS = {
    "msgpack": ("proto/wire/wire.c",),
    "jansson": ("proto/json.c",),
    "pcre2": ("proto/schema/pattern.c",),
    "sodium": ("proto/digest.c", "proto/sign.c"),
    "seccomp.h": ("sandbox/seccomp.c",),
    "cap-ng.h": ("sandbox/caps.c",),
    "Python.h": ("sandbox/runtimes/python/",),
    "sqlite3": ("store/",),
    "zstd": ("store/",),
    "uv": ("daemon/",),
    "systemd/": ("daemon/loop/service_manager.c",),
    "utf8proc": ("daemon/inspector/names.c",),
    "tree_sitter/": ("daemon/inspector/syntax.c", "daemon/inspector/query.", "daemon/inspector/roots.",
                     "daemon/inspector/nodes.", "daemon/inspector/shape.", "daemon/inspector/treemem.c"),
}

# What the inspector does without although it lives in daemon/.
NOT_IN_INSPECTOR = ("uv",)


def folder_of(path):
    fits = [folder for folder in MAY if path.startswith(folder + "/")]
    return max(fits, key=len)


def foreign_complaint(path, header):
    for start, rooms in ROOMS.items():
        if not header.startswith(start):
            continue
        if start in NOT_IN_INSPECTOR and path.startswith("daemon/inspector/"):
            return f"the inspector does without {header}"
        if not path.startswith(rooms):
            return f"{header} belongs in {' or '.join(rooms)}"
    return None


def complaints(path):
    folder = folder_of(path)
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        ours = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        foreign = re.match(r"\s*#\s*include\s+<([^>]+)>", line)
        if ours and not ours[1].startswith(MAY[folder] + DOORS.get(path, ())):
            yield f"{path}:{number}: {folder}/ may not include {ours[1]}"
        if foreign and (said := foreign_complaint(path, foreign[1])):
            yield f"{path}:{number}: {said}"


def sources():
    for top in sorted({folder.split("/")[0] for folder in MAY}):
        yield from sorted(str(file) for file in pathlib.Path(top).rglob("*.[ch]"))


found = [text for path in sources() for text in complaints(path)]
print("\n".join(found) or "layers: ok")
sys.exit(bool(found))
