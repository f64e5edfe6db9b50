WIDTH, HEIGHT = 20, 10
cells = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}


def step(cells):
    near = {}
    for x, y in cells:
        for dx in -1, 0, 1:
            for dy in -1, 0, 1:
                if dx or dy:
                    at = (x + dx) % WIDTH, (y + dy) % HEIGHT
                    near[at] = near.get(at, 0) + 1
    return {at for at, n in near.items() if n == 3 or n == 2 and at in cells}


for _ in range(30):
    cells = step(cells)
for y in range(HEIGHT):
    print("".join("#" if (x, y) in cells else "." for x in range(WIDTH)))
