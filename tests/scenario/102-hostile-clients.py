import os
import socket
import struct
import sys
import threading
import time

import msgpack

from wire import Client, PATH, daemon_pid, done, eq, ok, rss_kib

spawner = int(sys.argv[1])
daemon = daemon_pid(spawner)


def raw():
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(60)
    sock.connect(PATH)
    return sock


def answer(payload):
    """Returns the messages that answer these bytes, and whether the connection was closed."""
    sock = raw()
    sock.sendall(payload)
    unpacker = msgpack.Unpacker(raw=False)
    messages = []
    try:
        while True:
            data = sock.recv(65536)
            if not data:
                return messages, True
            unpacker.feed(data)
            messages += list(unpacker)
            if messages:
                sock.settimeout(0.3)
    except socket.timeout:
        return messages, False
    finally:
        sock.close()


def code_of(messages):
    return messages[0][2]["code"] if messages else None


# A well-behaved client is served all the time.
stop = threading.Event()
trouble = []
served = [0]


def neighbour():
    client = Client()
    while not stop.is_set():
        try:
            result = client.run("print(1)")
            served[0] += 1
            if result["outcome"] != "ok":
                trouble.append(result)
        except Exception as error:  # any exception counts
            trouble.append(error)
            return
        time.sleep(0.01)


thread = threading.Thread(target=neighbour)
thread.start()
before = rss_kib(daemon)

messages, closed = answer(b"GET / HTTP/1.1\r\n\r\n")
ok(closed, "garbage ends the connection")

sock = raw()
sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
said = b""
try:
    while piece := sock.recv(65536):
        said += piece
except OSError:
    pass
ok(said.startswith(b"HTTP/1.1 400 ") and b"MessagePack-RPC" in said, "HTTP is told what is spoken here", said)
sock.close()

messages, closed = answer(b"\xdd\x7f\xff\xff\xff")
ok(closed, "an array of two thousand million entries ends the connection")

request_head = b"\x94\x00\x05\xa3run\x91"
messages, closed = answer(request_head + b"\x81\xa4code\xc6" + struct.pack(">I", 2 << 30))
eq((code_of(messages), closed), ("too_large", True), "a 2 GiB length is told and ends the connection")

large = request_head + b"\x81\xa4code\xc6" + struct.pack(">I", 20 << 20) + msgpack.packb([0, 6, "hello", []]) * (2 << 20)
large = large[:len(request_head) + 11 + (20 << 20)]
messages, closed = answer(large + msgpack.packb([0, 7, "run", [{"language": "python", "code": "print(1)"}]]))
eq(([(message[1], message[2] and message[2]["code"]) for message in messages], closed), ([(5, "too_large"), (7, None)], False),
   "20 MiB are told and dropped, and the message behind them is answered")

messages, closed = answer(request_head + b"\x91" * 10000 + b"\x00")
eq((code_of(messages), closed), ("bad_request", False), "nesting of 10,000 is told")
deep = request_head + b"\x91" * 10000 + b"\x00"
messages, closed = answer(deep.replace(b"\x05", b"\x06", 1) + msgpack.packb([0, 7, "run", [{"language": "python", "code": "print(1)"}]]))
eq(([(message[1], message[2] and message[2]["data"]["reason"]) for message in messages], closed), ([(6, "depth"), (7, None)], False),
   "and the message behind it is answered")

messages, closed = answer(msgpack.packb([0, 5, "run", [{"language": "python", "code": "1", "kode": 2}]]))
eq(code_of(messages), "bad_request", "an unknown key is refused")
eq(messages[0][2]["data"]["pointer"], "/kode", "by name")
eq(messages[0][2]["data"]["reason"], "unknown_key", "with a stable word")
ok(not closed, "and the connection lives on")

messages, closed = answer(msgpack.packb([0, 5, "fly", []]))
eq(code_of(messages), "unknown_method", "an unknown method is told")

messages, closed = answer(request_head + b"\x82\xa4code\xa11\xa4code\xa12")
eq(code_of(messages), "bad_request", "a key that comes twice is refused")

messages, closed = answer(request_head + b"\x81\xa4code\xa2\xff\xfe")
eq(code_of(messages), "bad_request", "text that is not UTF-8 is refused")

large = "a" * 70000  # read on a thread
for what, sent in (("text", large), ("a list", [large]), ("an id that is text", [0, large, "run", []]),
                   ("a response", [1, large, None, None]), ("a map", {"code": large})):
    messages, closed = answer(msgpack.packb(sent))
    eq((messages, closed), ([], True), f"70 kB that are no request ({what}) end their connection")
for what, sent in (("its params", [2, "x", large]), ("its method", [2, large, []])):
    messages, closed = answer(msgpack.packb(sent) + msgpack.packb([0, 6, "hello", []]))
    eq((messages and messages[0][1], closed), (6, False), f"a large notification is passed over ({what} are wrong)")
eq(daemon_pid(spawner), daemon, "and end nothing else")

messages, closed = answer(msgpack.packb([1, 5, None, {}]) + msgpack.packb([0, 6, "hello", []]))
eq(messages[0][1], 6, "a response to nothing is passed over")

started = time.monotonic()
sock = raw()
sock.sendall(request_head + b"\x82\xa4code\xa11")
left = sock.recv(1) == b""
ok(left and 0.5 < time.monotonic() - started < 30, "half a message has its deadline")
sock.close()

sock = raw()
dripped = 0
try:
    for byte in request_head + b"\x81\xa4code\xd9\xfa" + b"1" * 249:
        sock.sendall(bytes([byte]))
        dripped += 1
        time.sleep(0.1)
except OSError:
    pass
ok(dripped < 200, f"byte by byte does not stretch it: {dripped} bytes")
sock.close()

# The daemon disconnects a client that asks and never reads before its replies fill the memory.
deaf = raw()
flood = msgpack.packb([0, 1, "run", [{"language": "python", "code": "print('x' * 1000000)"}]])
sent = 0
try:
    for _ in range(200):
        deaf.sendall(flood)
        sent += 1
except OSError:
    pass
time.sleep(5)
middle = rss_kib(daemon)
ok(middle - before < 150 * 1024, f"a client that never reads costs {middle - before} KiB, not 200 MB")
deaf.close()

# A crowd of silent clients gets its share of connections and no more.
crowd = []
for _ in range(80):
    try:
        crowd.append(raw())
    except OSError:
        break
time.sleep(0.5)
client = Client()
eq(client.run("print(2)")["stdout"], "2\n", "somebody who has something to say still gets in")
for sock in crowd:
    sock.close()
client.close()

stop.set()
thread.join()
ok(not trouble, "the neighbour was never disturbed", trouble[:1])
ok(served[0] > 50, f"and was served {served[0]} times")
eq(daemon_pid(spawner), daemon, "it is the same daemon that served them all")
done()
