"""
The programs that are measured, in sets.  Each program has a line `NUMBER = 0`; every run gets
another number there, so no verdict and no result is remembered.
"""

import json
import os
import random
import re

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
JSON_BYTES = 1_000_000

ENDINGS = {"python": ".py", "javascript": ".js", "bash": ".sh"}
INTERPRETERS = {
    "python": ["/usr/bin/python3", "-c"],
    "javascript": ["node", "-e"],
    "bash": ["/bin/bash", "-c"],
}
NUMBER = re.compile(r"^((?:const )?NUMBER ?= ?)0(;?)$", re.M)

# name: its folder, the runtime that it needs (else that of the language), what it is
SETS = {
    "programs": ("", None, "programs like those that agents send"),
    "json": ("json", None, "1 MB of JSON in by `input`, and out"),
    "compute": ("compute", None, "about 100 ms of computing"),
    "numpy": ("numpy", "python-data", "programs that use numpy"),
    "pandas": ("pandas", "python-data", "programs that use pandas"),
}


def rows_of_json():
    """A table of JSON_BYTES bytes, the same each time."""
    dice = random.Random(1)
    rows, size = [], 2
    while size < JSON_BYTES:
        rows.append({
            "id": len(rows),
            "name": f"customer {dice.randrange(1 << 30)}",
            "amount": round(dice.random() * 1000, 2),
            "open": dice.random() < 0.5,
            "tags": dice.sample(["new", "late", "paid", "north", "south", "gift"], 2),
        })
        size += len(json.dumps(rows[-1])) + 2
    return rows


class Program:
    def __init__(self, path, value):
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.value = value  # for `input`, or None
        self.stdin = b"" if value is None else json.dumps(value).encode()
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        if not NUMBER.search(self.text):
            raise ValueError(f"{path} has no line for the number")

    def another(self):
        """The program as it was never seen before."""
        number = random.randrange(1, 1 << 30)
        return NUMBER.sub(rf"\g<1>{number}\g<2>", self.text, count=1)


class Set:
    """The programs of one language in one set; none if the language has none there."""

    def __init__(self, name, language, word):
        place, runtime, self.what = SETS[name]
        folder = os.path.join(FOLDER, place or language)
        ending = ENDINGS[language]
        value = rows_of_json() if name == "json" else None
        self.name = name
        self.runtime = runtime or language
        self.interpreter = INTERPRETERS[language]
        self.programs = [
            Program(os.path.join(folder, file), value)
            for file in sorted(os.listdir(folder))
            if file.endswith(ending) and word in file
        ]

    @property
    def needs_packages(self):
        return self.runtime == "python-data"
