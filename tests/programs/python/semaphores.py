import multiprocessing
import multiprocessing.dummy
import threading
from multiprocessing.pool import ThreadPool

lock, seen = multiprocessing.Lock(), []
with lock:
    print(lock.acquire(block=False), lock)
semaphore = multiprocessing.BoundedSemaphore(2)
print(semaphore.acquire(), semaphore.acquire(), semaphore.acquire(timeout=0.01), semaphore.get_value())
semaphore.release()
semaphore.release()
try:
    semaphore.release()
except ValueError as error:
    print(error)
inner = multiprocessing.RLock()
with inner, inner:
    print(inner)
event = multiprocessing.Event()
threading.Timer(0.01, event.set).start()
print(event.wait(5), multiprocessing.Value("i", 5).value, multiprocessing.Array("d", [1, 2])[:])
condition = multiprocessing.Condition()


def wait():
    with condition:
        condition.wait(5)
        seen.append("told")


thread = threading.Thread(target=wait)
thread.start()
while thread.is_alive():
    with condition:
        condition.notify_all()
thread.join()
print(seen, [multiprocessing.Lock() for _ in range(2000)][-1].acquire())
with ThreadPool(4) as pool:
    print(pool.map(str, range(5)), pool.apply(max, (1, 2)), sorted(pool.imap_unordered(abs, [-2, 1])))
print(multiprocessing.dummy.Pool(2).map(len, ["a", "bc"]))
queue = multiprocessing.Queue()
queue.put({"through": "a pipe"})
print(queue.get(timeout=5))
reading, writing = multiprocessing.Pipe()
writing.send([1, 2])
print(reading.recv(), multiprocessing.current_process().name, multiprocessing.active_children())
