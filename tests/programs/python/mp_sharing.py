# runtime: python-mp
import mmap
import multiprocessing as mp
import os
import random
import tempfile


def add(counter, lock, times):
    for _ in range(times):
        with lock:
            counter.value += 1


def fill(array, index, barrier):
    array[index] = index * 1.5
    barrier.wait(10)


def draw(connection):
    connection.send((random.random(), tempfile.gettempdir(), os.getppid() == parent))
    connection.close()


parent = os.getpid()
if __name__ == "__main__":
    counter, lock = mp.Value("i", 0, lock=False), mp.Lock()
    adders = [mp.Process(target=add, args=(counter, lock, 200)) for _ in range(4)]
    [p.start() for p in adders]
    [p.join() for p in adders]
    print(counter.value)
    array, barrier = mp.Array("d", 3), mp.Barrier(4)
    fillers = [mp.Process(target=fill, args=(array, n, barrier)) for n in range(3)]
    [p.start() for p in fillers]
    barrier.wait(10)
    [p.join() for p in fillers]
    print(array[:])
    drawn = []
    for _ in range(3):
        here, there = mp.Pipe()
        child = mp.Process(target=draw, args=(there,))
        child.start()
        drawn.append(here.recv())
        child.join()
    print(len({number for number, _, _ in drawn}), all(told for _, _, told in drawn))
    page = mmap.mmap(-1, 4096)
    if os.fork() == 0:
        page[:5] = b"hello"
        os._exit(0)
    os.wait()
    print(page[:5])
    event, semaphore = mp.Event(), mp.Semaphore(0)
    waiter = mp.Process(target=lambda: (semaphore.release(), event.wait(10)))
    waiter.start()
    print(semaphore.acquire(timeout=10), waiter.is_alive())
    event.set()
    waiter.join()
    waiter = mp.Process(target=event.wait)
    waiter.start()
    waiter.terminate()
    waiter.join()
    print(waiter.exitcode in (0, -15), mp.active_children())
