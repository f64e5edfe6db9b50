import gc
import sys
import weakref


class Thing:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("deleted", self.name)


one = Thing("one")
ref = weakref.ref(one, lambda r: print("callback"))
print(ref() is one, sys.getrefcount(one))
del one
print(ref())
cycle = Thing("cycle")
cycle.me = cycle
del cycle
print(gc.collect() > 0, gc.isenabled(), gc.get_threshold())
cache = weakref.WeakValueDictionary()
kept = cache["k"] = Thing("kept")
cache["g"] = Thing("gone")
print(sorted(cache))
weakref.finalize(kept, print, "finalized")
proxy = weakref.proxy(kept)
print(proxy.name)
last = Thing("at the end")
