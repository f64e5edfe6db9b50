# stdin: It was the best of times,\nit was the worst of times;\nit was the age of wisdom.\n
import collections
import re
import sys

words = re.findall(r"[a-z']+", sys.stdin.read().lower())
for word, count in sorted(collections.Counter(words).items(), key=lambda item: (-item[1], item[0]))[:5]:
    print(f"{count:>4} {word} {'#' * count}")
