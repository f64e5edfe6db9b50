from collections import deque

NUMBER = 0

SIZE = 15
walls = {(x, y) for x in range(SIZE) for y in range(SIZE) if (x * 7 + y * 3 + NUMBER * 11) % 5 == 0}
start, goal = (0, 0), (SIZE - 1, SIZE - 1)
walls -= {start, goal}


def search(start, goal):
    queue = deque([start])
    before = {start: None}
    while queue:
        place = queue.popleft()
        if place == goal:
            path = []
            while place:
                path.append(place)
                place = before[place]
            return path[::-1]
        x, y = place
        for near in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if 0 <= near[0] < SIZE and 0 <= near[1] < SIZE and near not in walls and near not in before:
                before[near] = place
                queue.append(near)
    return None


path = search(start, goal)
for y in range(SIZE):
    print("".join("#" if (x, y) in walls else "o" if path and (x, y) in path else "." for x in range(SIZE)))
print("no way" if path is None else f"{len(path) - 1} steps")
