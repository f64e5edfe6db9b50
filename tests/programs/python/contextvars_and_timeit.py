import contextvars
import cProfile
import io
import pstats
import sched
import time
import timeit
import tracemalloc

var = contextvars.ContextVar("var", default="none")
token = var.set("outer")
context = contextvars.copy_context()
context.run(var.set, "inner")
print(var.get(), context[var])
var.reset(token)
print(var.get())
print(timeit.timeit("sum(range(10))", number=100) > 0)
profile = cProfile.Profile()
profile.runcall(lambda: [str(n) for n in range(100)])
out = io.StringIO()
pstats.Stats(profile, stream=out).print_stats(0)
print("function calls" in out.getvalue())
order, scheduler = [], sched.scheduler(time.monotonic, time.sleep)
scheduler.enter(0.02, 1, order.append, ("second",))
scheduler.enter(0.01, 1, order.append, ("first",))
scheduler.run()
print(order)
tracemalloc.start()
kept = [bytes(1000) for _ in range(100)]
print(tracemalloc.get_traced_memory()[0] > 100000)
tracemalloc.stop()
