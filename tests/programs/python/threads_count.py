import threading

total, lock = 0, threading.Lock()


def add():
    global total
    for _ in range(1000):
        with lock:
            total += 1


threads = [threading.Thread(target=add, name=f"adder-{n}") for n in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(total, threading.active_count(), threading.current_thread().name, threads[3].name)
barrier, seen = threading.Barrier(4), []


def meet(number):
    barrier.wait()
    seen.append(number)


for n in range(4):
    threading.Thread(target=meet, args=(n,)).start()
while len(seen) < 4:
    threading.Event().wait(0.001)
print(sorted(seen))
local = threading.local()
local.x = 1
found = []
other = threading.Thread(target=lambda: found.append(hasattr(local, "x")))
other.start()
other.join()
print(found, threading.stack_size(), threading.main_thread() is threading.current_thread())
