import re
from typing import Iterator, NamedTuple

NUMBER = 0


class Token(NamedTuple):
    kind: str
    text: str
    line: int
    column: int


RULES = [
    ("NUMBER", r"\d+(\.\d*)?"),
    ("NAME", r"[A-Za-z_]\w*"),
    ("STRING", r'"[^"\n]*"'),
    ("OPERATOR", r"==|<=|>=|[-+*/=<>(){};,]"),
    ("NEWLINE", r"\n"),
    ("SKIP", r"[ \t]+|#.*"),
    ("WRONG", r"."),
]
MASTER = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in RULES))


def tokenize(text: str) -> Iterator[Token]:
    line = 1
    start = 0
    for match in MASTER.finditer(text):
        kind = match.lastgroup
        if kind == "NEWLINE":
            line += 1
            start = match.end()
        elif kind != "SKIP":
            yield Token(kind, match.group(), line, match.start() - start)


source = f"""
let total = {NUMBER} + 3.5; # start
while (total >= 10) {{
    print("total", total);
    total = total - 1 @ 2
}}
"""
for token in tokenize(source):
    if token.kind == "WRONG":
        print(f"line {token.line}, column {token.column}: {token.text!r} is not known")
kinds = {}
for token in tokenize(source):
    kinds[token.kind] = kinds.get(token.kind, 0) + 1
print(sorted(kinds.items()))
