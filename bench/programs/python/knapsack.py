NUMBER = 0

items = [(f"item{i}", (i * 13 + NUMBER) % 19 + 3, (i * 29 + NUMBER) % 47 + 5) for i in range(14)]
capacity = 60


def best(items, capacity):
    table = [[0] * (capacity + 1)]
    for _, weight, value in items:
        last = table[-1]
        table.append([
            max(last[room], last[room - weight] + value) if room >= weight else last[room]
            for room in range(capacity + 1)
        ])
    chosen = []
    room = capacity
    for index in range(len(items), 0, -1):
        if table[index][room] != table[index - 1][room]:
            chosen.append(items[index - 1])
            room -= items[index - 1][1]
    return table[-1][capacity], chosen[::-1]


value, chosen = best(items, capacity)
print("value", value, "weight", sum(weight for _, weight, _ in chosen))
for name, weight, worth in chosen:
    print(f"  {name:8} {weight:>3} {worth:>3}")
greedy = 0
room = capacity
for _, weight, worth in sorted(items, key=lambda item: -item[2] / item[1]):
    if weight <= room:
        room -= weight
        greedy += worth
print("greedy", greedy, "is", f"{greedy / value:.1%}", "of it")
