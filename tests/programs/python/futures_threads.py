import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, as_completed, wait


def slow(n):
    time.sleep(0.002 * n)
    if n == 7:
        raise ValueError(f"seven {n}")
    return n * n


with ThreadPoolExecutor(max_workers=8) as pool:
    futures = {pool.submit(slow, n): n for n in range(10)}
    for future in sorted(as_completed(futures), key=futures.get):
        print(futures[future], future.exception() or future.result())
    print(list(pool.map(str.upper, "abc")))
    done, pending = wait([pool.submit(slow, 1), pool.submit(slow, 300)], return_when=FIRST_COMPLETED)
    print(len(done), len(pending))
with ThreadPoolExecutor(2) as pool:
    try:
        list(pool.map(slow, range(9)))
    except ValueError as error:
        print("raised:", error)
