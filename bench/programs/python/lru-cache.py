from collections import OrderedDict
from functools import lru_cache

NUMBER = 0


class Cache:
    def __init__(self, size):
        self.size = size
        self.items = OrderedDict()
        self.hits = self.misses = 0

    def get(self, key, make):
        if key in self.items:
            self.items.move_to_end(key)
            self.hits += 1
            return self.items[key]
        self.misses += 1
        value = self.items[key] = make(key)
        if len(self.items) > self.size:
            self.items.popitem(last=False)
        return value


cache = Cache(5)
for i in range(100):
    cache.get((i * i + NUMBER) % 9, lambda key: key**3)
print("hits", cache.hits, "misses", cache.misses, "kept", list(cache.items))


@lru_cache(maxsize=None)
def ways(amount, coins):
    if amount == 0:
        return 1
    if amount < 0 or not coins:
        return 0
    return ways(amount - coins[0], coins) + ways(amount, coins[1:])


print(ways(100 + NUMBER % 20, (50, 25, 10, 5, 1)), ways.cache_info().misses)
