import random
from collections import Counter

NUMBER = 0

CODONS = {"ATG": "M", "TGG": "W", "TAA": "*", "TAG": "*", "TGA": "*", "GCT": "A", "AAA": "K", "GGC": "G"}
generator = random.Random(NUMBER)
dna = "".join(generator.choice("ACGT") for _ in range(600))
dna = dna[:100] + "ATG" + "GCTAAAGGC" * 4 + "TAA" + dna[100:]


def complement(text):
    return text[::-1].translate(str.maketrans("ACGT", "TGCA"))


def proteins(text):
    for frame in range(3):
        protein = None
        for i in range(frame, len(text) - 2, 3):
            amino = CODONS.get(text[i : i + 3], "?")
            if protein is None and amino == "M":
                protein = ""
            if protein is not None:
                if amino == "*":
                    yield frame, protein
                    protein = None
                else:
                    protein += amino


print(Counter(dna).most_common(), f"GC {100 * sum(dna.count(c) for c in 'GC') / len(dna):.1f} %")
found = sorted(proteins(dna), key=lambda pair: -len(pair[1]))
print(len(found), any(p.startswith("MAKGAKG") for _, p in found))
kmers = Counter(dna[i : i + 4] for i in range(len(dna) - 3))
print(kmers.most_common(1)[0][1] > 3, complement(dna[:12]), dna[:12])
