# runtime: python-mp
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import Process, Queue


def square(n):
    return n * n


def fail(n):
    raise ValueError(f"no {n}")


def put(queue, name):
    queue.put((name, os.getpid() != parent, multiprocessing.current_process().name))


parent = os.getpid()
if __name__ == "__main__":
    with multiprocessing.Pool(4) as pool:
        print(pool.map(square, range(10)), pool.starmap(pow, [(2, 3), (3, 2)]))
        print(sorted(pool.imap_unordered(square, range(5))), pool.apply_async(square, (7,)).get(timeout=10))
        try:
            pool.map(fail, [1])
        except ValueError as error:
            print("from a child:", error)
    with ProcessPoolExecutor(3) as executor:
        print(list(executor.map(square, range(6), chunksize=2)), executor.submit(os.getpid).result() != parent)
        print(repr(executor.submit(fail, 2).exception()))
    queue = Queue()
    children = [Process(target=put, args=(queue, n), name=f"child-{n}") for n in range(3)]
    for child in children:
        child.start()
    print(sorted(queue.get(timeout=10) for _ in children))
    for child in children:
        child.join()
    print([child.exitcode for child in children], multiprocessing.get_start_method())
