import re

NUMBER = 0

document = f"""# Guide {NUMBER}

Some *text* with a [link](https://example.com) and `code`.

## Install

1. Download
2. Run `make`

## Use

### First steps

- one
- **two**

### More

> quoted

# Appendix
"""


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def contents(text):
    for match in re.finditer(r"^(#+)\s+(.*)$", text, re.MULTILINE):
        depth = len(match[1]) - 1
        yield "  " * depth + f"- [{match[2]}](#{slug(match[2])})"


def to_text(text):
    text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r"\1 <\2>", text)
    text = re.sub(r"(\*\*|\*|`)(.+?)\1", r"\2", text)
    return re.sub(r"^#+\s*(.*)$", lambda m: m[1].upper(), text, flags=re.M)


print("\n".join(contents(document)))
print(to_text(document))
