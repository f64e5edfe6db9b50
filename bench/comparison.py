"""
Compares the ratios of two measurements.  Times of two runs say little on a shared machine; a
ratio to the unjailed interpreter of the same run says much.
"""

import json
import sys

from report import share

WHAT = {
    "ratio": "p50",
    "cpu_ratio": "cpu of a run",
    "faults_ratio": "page faults of a run",
}


def earlier(path, language):
    """The measurement in a file; ends the program if it is another one's or there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        if found["language"] == language and found["sets"]:
            return found
        sys.exit(f"programs.py: {path} measured {found['language']}, not {language}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"programs.py: {path} is no file that --json wrote: {error!r}")


def pairs(now, before):
    """(set, daemon, what, ratio now, ratio before) of all that both have."""
    for name, measured in now["sets"].items():
        earlier = before["sets"].get(name, {"ways": {}})["ways"]
        for way, row in measured["ways"].items():
            if row["kind"] != "daemon" or way not in earlier:
                continue
            for key, told in WHAT.items():
                if row[key] and earlier[way].get(key):
                    yield name, way, told, row[key], earlier[way][key]


def compare(now, before, percent):
    """Prints each ratio; 0 if none is worse by more than `percent`, else 1."""
    found = list(pairs(now, before))
    worse = [pair for pair in found if pair[3] > pair[4] * (1 + percent / 100)]
    print("\ncompared with the earlier measurement, beside the unjailed interpreter of each")
    for name, way, told, ratio, earlier in found:
        print(f"  {f'{name}, {way}: {told}':<50}{share(ratio):>8}, was {share(earlier)}")
    for name, way, told, ratio, earlier in worse:
        print(f"Worse: in the set {name}, the {told} of {way} beside the interpreter is "
              f"{share(ratio)} and was {share(earlier)}, {ratio / earlier - 1:.0%} more.")
    if not found:
        print("Nothing can be compared: the earlier measurement has no set and daemon of these.")
        return 1
    if not worse:
        print(f"No ratio is worse by more than {percent:g} %.")
    return 1 if worse else 0
