import difflib

NUMBER = 0


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


words = ["kitten", "sitting", "mitten", "kitchen", "smitten", "written", f"kit{NUMBER % 10}"]
for word in words[1:]:
    print(f"{words[0]} -> {word}: {distance(words[0], word)}")
print(difflib.get_close_matches("kittn", words, n=3))
before = ["alpha", "beta", "gamma", "delta"]
after = ["alpha", "beta2", "gamma", "epsilon", str(NUMBER)]
for line in difflib.unified_diff(before, after, "before", "after", lineterm=""):
    print(line)
print(round(difflib.SequenceMatcher(None, "private thread", "previous threat").ratio(), 4))
