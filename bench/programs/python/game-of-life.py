NUMBER = 0

WIDTH, HEIGHT = 24, 12
cells = {((i * 7 + NUMBER) % WIDTH, (i * 5) % HEIGHT) for i in range(70)}


def neighbours(x, y):
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            if dx or dy:
                yield (x + dx) % WIDTH, (y + dy) % HEIGHT


def step(alive):
    counts = {}
    for cell in alive:
        for near in neighbours(*cell):
            counts[near] = counts.get(near, 0) + 1
    return {cell for cell, count in counts.items() if count == 3 or count == 2 and cell in alive}


def show(alive):
    return "\n".join("".join("#" if (x, y) in alive else "." for x in range(WIDTH)) for y in range(HEIGHT))


for generation in range(6):
    print(f"generation {generation}: {len(cells)} alive")
    cells = step(cells)
print(show(cells))
