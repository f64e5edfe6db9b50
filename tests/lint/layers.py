"""Every #include of ours points down the table, and each foreign library has one room.

A room is a row of the table MAY.  Includes are written from the root, so the direction can be
read off each line.  tests/ and bench/ may include anything and nothing includes them.

The includes among rooms have no cycle.  In the folders of NO_CYCLES neither have those inside a
room, except for two files that include each other.  A header and its source count as one file.

    layers.py            prints what breaks these rules, and fails then
    layers.py --graph    prints which room includes which, and every cycle in all folders
"""

import pathlib
import re
import sys

# A room (the longest that fits counts) and what its files may include.  A room is a folder with all
# below it, or a pattern of files in one folder.
MAY = {
    "proto/base": ("proto/base/",),
    "proto": ("proto/",),
    "sandbox": (),
    "sandbox/*.h": ("proto/base/", "proto/jail_dirs.h"),
    "sandbox/filter": ("proto/base/", "sandbox/*.h", "sandbox/filter/"),
    "sandbox/jail": ("proto/base/", "proto/internal/privmsg.h", "proto/jail_dirs.h", "sandbox/*.h", "sandbox/filter/", "sandbox/jail/"),
    "sandbox/spawner": ("proto/base/", "proto/internal/", "proto/version.h", "sandbox/*.h", "sandbox/filter/",
                        "sandbox/jail/", "sandbox/spawner/"),
    "sandbox/worker": ("proto/base/", "proto/internal/slotmsg.h", "sandbox/*.h", "sandbox/filter/", "sandbox/worker/"),
    "sandbox/zygote": ("proto/base/", "proto/internal/", "proto/jail_dirs.h", "sandbox/*.h", "sandbox/filter/", "sandbox/worker/",
                       "sandbox/zygote/"),
    "sandbox/runtimes": ("proto/base/", "proto/internal/slotmsg.h", "proto/jail_dirs.h", "proto/jail_network.h", "sandbox/*.h",
                         "sandbox/filter/", "sandbox/worker/", "sandbox/zygote/", "sandbox/runtimes/"),
    "store": ("proto/", "store/"),
    "store/*.h": ("proto/", "store/*.h"),
    "store/base": ("proto/", "store/*.h", "store/base/"),
    "store/write": ("proto/", "store/*.h", "store/base/", "store/write/"),
    "store/read": ("proto/", "store/*.h", "store/base/", "store/read/"),
    "store/verify": ("proto/", "store/*.h", "store/base/", "store/verify/"),
    "store/maintenance": ("proto/", "store/*.h", "store/base/", "store/maintenance/"),
    "clients/c": ("clients/c/",),
    "cli": ("proto/", "cli/"),
    "cli/base": ("proto/", "clients/c/ced.h", "cli/base/"),
    "cli/terminal": ("proto/", "cli/base/", "cli/terminal/"),
    "cli/session": ("proto/", "cli/base/", "cli/terminal/", "cli/session/"),
    "cli/commands": ("proto/", "cli/base/", "cli/terminal/", "cli/session/", "cli/commands/",
                     "cli/doctor/doctor.h", "cli/mcp/", "cli/web/"),
    "cli/mcp": ("proto/", "clients/c/ced.h", "cli/base/", "cli/terminal/", "cli/session/", "cli/mcp/"),
    "cli/web": ("proto/", "cli/base/", "cli/web/"),
    "cli/doctor": ("proto/base/", "proto/json.h", "proto/package_digest.h", "proto/store_room.h", "cli/base/libexec.h", "cli/base/command.h",
                   "cli/doctor/"),
    "daemon": ("proto/", "store/*.h", "daemon/"),  # server*.c and main.c, which nothing includes
    "daemon/services.h": ("proto/",),
    "daemon/filter_digest.h": (),
    "daemon/loop": ("proto/", "daemon/loop/"),
    "daemon/settings": ("proto/", "daemon/settings/"),
    "daemon/redact": ("proto/", "daemon/loop/", "daemon/settings/", "daemon/redact/"),
    "daemon/policy": ("proto/", "daemon/loop/", "daemon/settings/", "daemon/policy/"),
    "daemon/door": ("proto/", "daemon/services.h", "daemon/loop/", "daemon/settings/", "daemon/door/"),
    "daemon/workers": ("proto/", "daemon/loop/", "daemon/settings/", "daemon/policy/", "daemon/workers/"),
    "daemon/record": ("proto/", "store/*.h", "daemon/loop/", "daemon/settings/", "daemon/record/"),
    "daemon/news": ("proto/", "store/*.h", "daemon/services.h", "daemon/loop/", "daemon/settings/", "daemon/door/",
                    "daemon/record/", "daemon/news/"),
    "daemon/gate": ("proto/", "store/*.h", "daemon/settings/", "daemon/door/ceilings.h", "daemon/gate/"),
    "daemon/runs": ("proto/", "daemon/loop/", "daemon/workers/", "daemon/runs/"),
    "daemon/sessions": ("proto/", "daemon/loop/", "daemon/settings/", "daemon/workers/", "daemon/sessions/"),
    "daemon/request": ("proto/", "store/*.h", "daemon/services.h", "daemon/filter_digest.h", "daemon/loop/",
                       "daemon/settings/", "daemon/redact/", "daemon/policy/", "daemon/door/", "daemon/workers/",
                       "daemon/record/", "daemon/news/", "daemon/gate/", "daemon/runs/", "daemon/sessions/",
                       "daemon/request/"),
    "daemon/methods": ("proto/", "store/*.h", "daemon/services.h", "daemon/loop/", "daemon/settings/",
                       "daemon/redact/", "daemon/policy/", "daemon/door/", "daemon/workers/", "daemon/record/",
                       "daemon/news/", "daemon/gate/", "daemon/runs/", "daemon/sessions/", "daemon/request/",
                       "daemon/methods/"),
    "daemon/egress": ("proto/base/", "proto/internal/egressmsg.h", "daemon/egress/"),
    "daemon/inspector": ("proto/base/", "proto/internal/inspectmsg.h", "proto/version.h",
                         "daemon/inspector/"),
    # Not installed: it reads the tables of both sides while building.
    "man": ("proto/", "cli/base/", "cli/commands/commands.h", "daemon/settings/", "daemon/policy/rule_sources.h", "man/"),
}

# Folders whose rooms and files have no include cycle.
NO_CYCLES = (
    "proto",
    "store",
    "sandbox",
    "cli",
    "daemon/door",
    "daemon/loop",
    "daemon/record",
    "daemon/redact",
    "daemon/inspector",
    "daemon/policy",
    "daemon/settings",
    "daemon/request",
    "daemon/runs",
    "daemon/sessions",
    "daemon/workers",
)

# A file that is its folder's only door to another.
DOORS = {
    "cli/session/offline.c": ("store/answers.h", "store/maintenance.h"),
}

# The start of a foreign header's name, and the only places that may know it.
ROOMS = {
    "msgpack": ("proto/wire/wire.c", "clients/c/ced.c"),
    "jansson": ("proto/json.c",),
    "pcre2": ("proto/schema/pattern.c",),
    "sodium": ("proto/digest.c", "proto/sign.c"),
    "seccomp.h": ("sandbox/filter/seccomp.c",),
    "cap-ng.h": ("sandbox/jail/caps.c",),
    "Python.h": ("sandbox/runtimes/python/",),
    "sqlite3": ("store/",),
    "zstd": ("store/",),
    "uv": ("daemon/",),
    "utf8proc": ("daemon/inspector/names.c",),
    "ares": ("daemon/egress/names.c",),
    "tree_sitter/": ("daemon/inspector/syntax.c", "daemon/inspector/query."),
}

# What the inspector does without although it lives in daemon/.
NOT_IN_INSPECTOR = ("uv",)


def fits(path, place):
    """Whether the path is in a folder, matches a pattern, or begins with the text."""
    if "*" in place:
        return pathlib.PurePath(path).match(place)
    return path.startswith(place)


def room_of(path):
    rooms = [room for room in MAY if path == room or fits(path, room if "*" in room else room + "/")]
    return max(rooms, key=len)


def foreign_complaint(path, header):
    for start, rooms in ROOMS.items():
        if not header.startswith(start):
            continue
        if start in NOT_IN_INSPECTOR and path.startswith(("daemon/inspector/", "daemon/egress/")):
            return f"jailed programs do without {header}"
        if not path.startswith(rooms):
            return f"{header} belongs in {' or '.join(rooms)}"
    return None


def included(path):
    """(line, header, whether it is ours) of each #include.

    The two files of clients/c are copied by others, so they find each other without a folder.
    """
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        found = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
        if found and "/" not in found[1] and '"' in line:
            yield number, str(pathlib.PurePath(path).with_name(found[1])), True
        elif found:
            yield number, found[1], '"' in line


def complaints(path):
    room = room_of(path)
    allowed = MAY[room] + DOORS.get(path, ())
    for number, header, is_ours in included(path):
        if is_ours and not any(fits(header, place) for place in allowed):
            yield f"{path}:{number}: {room} may not include {header}"
        if not is_ours and (said := foreign_complaint(path, header)):
            yield f"{path}:{number}: {said}"


def sources():
    tops = {room if room.startswith("clients/") else room.split("/")[0] for room in MAY}
    for top in sorted(tops):
        yield from sorted(str(file) for file in pathlib.Path(top).rglob("*.[ch]"))


# ---- cycles ------------------------------------------------------------------------------------


def module_of(path):
    return path.rsplit(".", 1)[0]


def graph_of(name):
    """Which module or room (by the function `name`) includes which others."""
    graph = {}
    for path in sources():
        others = {name(header) for _, header, is_ours in included(path) if is_ours}
        graph.setdefault(name(path), set()).update(others - {name(path)})
    return graph


def reachable(graph, start):
    seen, waiting = set(), [start]
    while waiting:
        for other in graph.get(waiting.pop(), ()):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def cycles(graph):
    """The largest sets of nodes in which each reaches all others."""
    reach = {node: reachable(graph, node) for node in graph}
    found = {frozenset(other for other in reach[node] if node in reach.get(other, ()))
             for node in graph if node in reach[node]}
    return sorted(sorted(cycle) for cycle in found)


def cycle_complaints(tops):
    def inside(nodes):
        return all(node.startswith(tuple(tops)) for node in nodes)

    for cycle in cycles(graph_of(room_of)):
        if inside(cycle) or len(cycle) > 1:
            yield "rooms include each other in a cycle: " + ", ".join(cycle)
    modules = graph_of(module_of)
    for room in MAY:
        files = {module_of(path) for path in sources() if room_of(path) == room}
        graph = {module: modules[module] & files for module in files}
        for cycle in cycles(graph):
            if inside(cycle) and len(cycle) > 2:
                yield f"files of {room} include each other in a cycle: " + ", ".join(cycle)


def print_graph():
    for room, others in sorted(graph_of(room_of).items()):
        print(f"{room}: {', '.join(sorted(others)) or '-'}")
    print("\n".join(cycle_complaints({room.split("/")[0] for room in MAY})) or "no cycles")


if "--graph" in sys.argv[1:]:
    print_graph()
    sys.exit(0)
wrong = [text for path in sources() for text in complaints(path)] + list(cycle_complaints(NO_CYCLES))
print("\n".join(wrong) or "layers: ok")
sys.exit(bool(wrong))
