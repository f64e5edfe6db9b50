import queue
import threading

jobs, results = queue.Queue(maxsize=4), queue.SimpleQueue()


def work():
    while (job := jobs.get()) is not None:
        results.put((job, job**2))
        jobs.task_done()


workers = [threading.Thread(target=work) for _ in range(5)]
for worker in workers:
    worker.start()
for job in range(50):
    jobs.put(job)
jobs.join()
for _ in workers:
    jobs.put(None)
for worker in workers:
    worker.join()
print(sorted(results.get() for _ in range(50))[-3:], results.empty())
try:
    jobs.get(timeout=0.01)
except queue.Empty as error:
    print(type(error))
urgent = queue.PriorityQueue()
for item in (3, "c"), (1, "a"), (2, "b"):
    urgent.put(item)
print([urgent.get()[1] for _ in range(3)])
