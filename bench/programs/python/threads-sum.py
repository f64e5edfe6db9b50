import queue
import threading

NUMBER = 0

jobs = queue.Queue()
results = {}
lock = threading.Lock()


def work():
    while True:
        job = jobs.get()
        if job is None:
            return
        total = sum(i * i % 7 for i in range(job * 50))
        with lock:
            results[job] = total


threads = [threading.Thread(target=work, name=f"t{i}") for i in range(3)]
for thread in threads:
    thread.start()
for job in range(1, 13):
    jobs.put(job)
for _ in threads:
    jobs.put(None)
for thread in threads:
    thread.join()
print({job: results[job] for job in sorted(results)})
print(sum(results.values()) + NUMBER, threading.active_count())
