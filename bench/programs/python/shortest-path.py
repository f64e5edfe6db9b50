import heapq

NUMBER = 0

graph = {}


def connect(a, b, cost):
    graph.setdefault(a, []).append((b, cost))
    graph.setdefault(b, []).append((a, cost))


for i in range(20):
    connect(f"n{i}", f"n{(i + 1) % 20}", (i * 7 + NUMBER) % 11 + 1)
    connect(f"n{i}", f"n{(i * 3 + 2) % 20}", (i * 5) % 13 + 2)


def dijkstra(start):
    distance = {start: 0}
    before = {}
    queue = [(0, start)]
    while queue:
        far, node = heapq.heappop(queue)
        if far > distance[node]:
            continue
        for neighbour, cost in graph[node]:
            new = far + cost
            if new < distance.get(neighbour, float("inf")):
                distance[neighbour] = new
                before[neighbour] = node
                heapq.heappush(queue, (new, neighbour))
    return distance, before


distance, before = dijkstra("n0")
goal = max(distance, key=distance.get)
path = [goal]
while path[-1] != "n0":
    path.append(before[path[-1]])
print("farthest:", goal, "at", distance[goal])
print(" -> ".join(reversed(path)))
