import itertools
import math

NUMBER = 0

letters = "abcde"
words = ["".join(p) for p in itertools.permutations(letters)]
print(len(words) == math.factorial(len(letters)), words[NUMBER % len(words)])

pairs = list(itertools.combinations(range(1, 10), 3))
sums = {}
for triple in pairs:
    sums.setdefault(sum(triple), []).append(triple)
target = NUMBER % 12 + 8
print("triples that make", target, ":", sums[target])

dice = list(itertools.product(range(1, 7), repeat=3))
for total, group in itertools.groupby(sorted(map(sum, dice))):
    count = len(list(group))
    print(f"{total:2} {'*' * (count // 3)} {count / len(dice):.3f}")

print(list(itertools.accumulate(range(1, 11), lambda a, b: a * b)))
print(list(itertools.chain.from_iterable(zip("abc", [1, 2, 3]))))
