import time

a, b = time.monotonic(), time.perf_counter()
time.sleep(0.02)
assert 0.015 < time.monotonic() - a < 60 and 0.015 < time.perf_counter() - b < 60
assert abs(time.time() - time.time_ns() / 1e9) < 1
assert time.time() > 1.6e9
assert time.process_time() >= 0 and time.thread_time() >= 0
print(time.gmtime(0), time.strftime("%c", time.gmtime(86400 * 365)), time.asctime(time.gmtime(1e9)))
print(time.get_clock_info("monotonic").adjustable, sorted(x for x in dir(time) if x.startswith("CLOCK_")))
print(time.clock_gettime(time.CLOCK_MONOTONIC) > 0, time.clock_getres(time.CLOCK_REALTIME))
