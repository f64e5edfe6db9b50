import threading

threading.stack_size(16 << 20)
found = []


def deep(n):
    return n if n == 0 else 1 + deep(n - 1)


thread = threading.Thread(target=lambda: found.append(deep(900)))
thread.start()
thread.join()
print(found)
