import string
from collections import Counter

NUMBER = 0

text = """
It was the best of times, it was the worst of times, it was the age of
wisdom, it was the age of foolishness, it was the epoch of belief, it was
the epoch of incredulity, it was the season of Light, it was the season of
Darkness, it was the spring of hope, it was the winter of despair.
""" + " ".join(f"chapter{NUMBER % 10 + i}" for i in range(5))

table = str.maketrans("", "", string.punctuation)
words = text.lower().translate(table).split()
counts = Counter(words)
for word, count in counts.most_common(8):
    print(f"{word:<12}{'#' * count} {count}")
lengths = Counter(len(word) for word in words)
print("longest:", max(words, key=len), "average:", round(sum(map(len, words)) / len(words), 2))
print({length: lengths[length] for length in sorted(lengths)})
