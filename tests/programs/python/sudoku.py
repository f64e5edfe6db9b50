GRID = "530070000600195000098000060800060003400803001700020006060000280000419005000080079"


def solve(grid):
    at = grid.find("0")
    if at < 0:
        return grid
    row, column = divmod(at, 9)
    taken = {grid[i] for i in range(81)
             if i // 9 == row or i % 9 == column or (i // 27 == row // 3 and i % 9 // 3 == column // 3)}
    for digit in "123456789":
        if digit not in taken:
            found = solve(grid[:at] + digit + grid[at + 1:])
            if found:
                return found
    return None


answer = solve(GRID)
print("\n".join(answer[i:i + 9] for i in range(0, 81, 9)))
