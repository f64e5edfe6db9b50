import os
import select
import selectors
import threading

pairs = [os.pipe() for _ in range(3)]
for n, (_, writing) in enumerate(pairs):
    threading.Timer(0.01 * (n + 1), os.write, (writing, b"pipe %d" % n)).start()
waiting, found = {reading for reading, _ in pairs}, []
while waiting:
    for fd in select.select(waiting, [], [], 5)[0]:
        found.append(os.read(fd, 100))
        waiting.discard(fd)
print(sorted(found))
poll = select.poll()
poll.register(pairs[0][0], select.POLLIN)
print(poll.poll(1))
os.write(pairs[0][1], b"x")
print([event for _, event in poll.poll(1000)])
epoll = select.epoll()
epoll.register(pairs[0][0], select.EPOLLIN | select.EPOLLET)
print(len(epoll.poll(1)), len(epoll.poll(0.01)))
with selectors.DefaultSelector() as selector:
    selector.register(pairs[0][0], selectors.EVENT_READ, data="zero")
    print([key.data for key, _ in selector.select(1)], type(selector).__name__)
os.close(pairs[1][0])
try:
    os.write(pairs[1][1], b"nobody reads")
except BrokenPipeError as error:
    print(error)
os.set_blocking(pairs[2][0], False)
try:
    os.read(pairs[2][0], 1)
except BlockingIOError as error:
    print(error)
