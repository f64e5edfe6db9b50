import textwrap
import unicodedata

NUMBER = 0

people = [
    ("Zoë", 31, "Writes about gardens and the people who keep them."),
    ("Łukasz", 45, "Repairs clocks; collects maps of towns that no longer exist."),
    ("Ngozi", 28 + NUMBER % 5, "Teaches mathematics in the evenings and swims in the mornings."),
    ("José", 52, "Bakes."),
]


def plain(text):
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def table(rows, head, width=30):
    wide = [max(len(str(row[i])) for row in rows + [head]) for i in range(2)]
    line = "+".join("-" * (w + 2) for w in wide + [width])
    yield line
    for row in [head] + rows:
        cells = textwrap.wrap(row[2], width) or [""]
        for index, cell in enumerate(cells):
            first = (str(row[0]), str(row[1])) if index == 0 else ("", "")
            yield f" {first[0]:<{wide[0]}} | {first[1]:>{wide[1]}} | {cell}"
        yield line


for line in table(sorted(people, key=lambda row: plain(row[0])), ("name", "age", "about")):
    print(line)
