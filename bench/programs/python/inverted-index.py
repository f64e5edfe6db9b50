import math
import re
from collections import Counter, defaultdict

NUMBER = 0

documents = {
    "a": "The quick brown fox jumps over the lazy dog",
    "b": "A lazy afternoon with a quick cup of tea",
    "c": "Dogs and foxes rarely drink tea together",
    "d": f"Report {NUMBER}: the fox population grew in the brown hills",
    "e": "Tea, tea and more tea: a brown drink for lazy people",
}
index = defaultdict(Counter)
lengths = {}
for name, text in documents.items():
    words = re.findall(r"[a-z0-9]+", text.lower())
    lengths[name] = len(words)
    for word in words:
        index[word][name] += 1


def search(query):
    scores = Counter()
    for word in query.lower().split():
        found = index.get(word, {})
        if not found:
            continue
        weight = math.log(1 + len(documents) / len(found))
        for name, count in found.items():
            scores[name] += weight * count / lengths[name]
    return scores.most_common(3)


for query in ("lazy tea", "brown fox", "the", "zebra", str(NUMBER)):
    print(query, "->", [(name, round(score, 3)) for name, score in search(query)])
