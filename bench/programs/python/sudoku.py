NUMBER = 0

PUZZLE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
order = "123456789"
turn = NUMBER % 9
names = dict(zip(order, order[turn:] + order[:turn]))
grid = [names.get(c, ".") for c in PUZZLE]


def used(index):
    row, column = divmod(index, 9)
    top, left = row // 3 * 3, column // 3 * 3
    seen = set(grid[row * 9 : row * 9 + 9]) | set(grid[column::9])
    for r in range(top, top + 3):
        seen |= set(grid[r * 9 + left : r * 9 + left + 3])
    return seen


def solve():
    best = None
    for index, cell in enumerate(grid):
        if cell == ".":
            options = set(order) - used(index)
            if best is None or len(options) < len(best[1]):
                best = index, options
                if len(options) < 2:
                    break
    if best is None:
        return True
    index, options = best
    for option in sorted(options):
        grid[index] = option
        if solve():
            return True
    grid[index] = "."
    return False


print("solved:", solve())
for row in range(9):
    print(" ".join(grid[row * 9 : row * 9 + 9]))
