import string

NUMBER = 0


def shift(text, by):
    lower, upper = string.ascii_lowercase, string.ascii_uppercase
    by %= 26
    table = str.maketrans(lower + upper, lower[by:] + lower[:by] + upper[by:] + upper[:by])
    return text.translate(table)


def guess(text):
    common = "etaoinshrdlu"

    def score(candidate):
        candidate = candidate.lower()
        return sum(candidate.count(letter) * (len(common) - rank) for rank, letter in enumerate(common))

    return max(range(26), key=lambda by: score(shift(text, -by)))


secret = "Meet me at the usual place when the clock strikes eleven tonight"
by = NUMBER % 25 + 1
hidden = shift(secret, by)
print(hidden)
found = guess(hidden)
print("shifted by", found, "->", shift(hidden, -found))
assert found == by
