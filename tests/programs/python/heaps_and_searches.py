import bisect
import heapq
import random
import statistics

random.seed(12345)
values = [random.randint(1, 1000) for _ in range(200)]
print(heapq.nlargest(3, values), heapq.nsmallest(3, values, key=lambda x: -x), list(heapq.merge([1, 4], [2, 3]))[:3])
heap = values[:]
heapq.heapify(heap)
print([heapq.heappop(heap) for _ in range(5)], bisect.bisect_left(sorted(values), 500))
print(random.choice("abc"), random.sample(range(100), 5), random.gauss(0, 1), random.choices("ab", [9, 1], k=8), random.getrandbits(70))
order = list(range(8))
random.shuffle(order)
print(order, random.Random(7).random(), random.uniform(1, 2), random.betavariate(1, 2))
print(statistics.median(values), statistics.pstdev(values), statistics.quantiles(values, n=4), statistics.mode("aab"))
print(statistics.linear_regression([1, 2, 3], [2, 4, 6.5]), statistics.NormalDist(10, 2).cdf(12), statistics.fmean([1, 2]))
graph = {"a": {"b": 7, "c": 3}, "b": {"d": 2}, "c": {"b": 1, "d": 8}, "d": {}}
best, todo = {}, [(0, "a")]
while todo:
    cost, node = heapq.heappop(todo)
    if node not in best:
        best[node] = cost
        for other, step in graph[node].items():
            heapq.heappush(todo, (cost + step, other))
print(best)
