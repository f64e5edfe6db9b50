"""A daemon whose messages nobody reads: 226-unread.py pipe|socket COMMAND...

Its stderr and the socket of its service manager are full.  It answers all the same, and says afterwards
how many lines are missing.
"""

import os
import re
import socket
import sys
import threading
import time

import wire
from manager import Manager, fill

kind = sys.argv[1]
if kind == "pipe":
    log, stderr = os.pipe()
else:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    log, stderr = ours.fileno(), theirs.fileno()
read = []
reads = threading.Event()
reads.set()


def read_log():
    while reads.wait():
        read.append(os.read(log, 4096).decode())


threading.Thread(target=read_log, daemon=True).start()
manager = Manager(sys.argv[2:], stderr=stderr)


def say_more(client):
    """Makes the daemon log two lines."""
    session = client.call("session.open", language="bash")["session"]
    client.call("session.close", session=session)


def fill_log():
    """Stops reading; what is in the way of the daemon's next line is ours."""
    reads.clear()
    if kind == "socket":
        fill(lambda: theirs.send(b"." * 4096, socket.MSG_DONTWAIT))
        return
    sent = os.open(f"/proc/self/fd/{stderr}", os.O_WRONLY | os.O_NONBLOCK)
    fill(lambda: os.write(sent, b"." * 4096))
    os.close(sent)


def dropped(client):
    return client.call("admin.status")["messages"]["log_dropped"]


wire.ok(manager.start(), "it starts")
client = wire.Client()
say_more(client)
wire.eq(client.call("admin.status")["messages"], {"log_dropped": 0, "journal_dropped": 0}, "all messages are read")
fill_log()
for _ in range(20):
    say_more(client)
wire.eq(wire.Client().run("print(1)")["stdout"], "1\n", "with a full log a new client is answered")
missing = dropped(client)
wire.ok(missing >= 40, "lines were dropped, and the status counts them", missing)
families = {family["name"]: family for family in client.call("admin.metrics")["families"]}
found = {tuple(sample["labels"].values()): sample["value"]
         for sample in families["ced_messages_dropped_total"]["samples"]}
wire.eq(found, {("log",): missing, ("journal",): 0}, "so do the metrics")


def told():
    return sum(int(number) for number in re.findall(r"log\.dropped lines=(\d+)\n", "".join(read)))


reads.set()
until = time.monotonic() + 300
while told() != dropped(client) and time.monotonic() < until:
    say_more(client)
    time.sleep(0.1)
wire.eq(told(), dropped(client), "when somebody reads again, the log says how many are missing")
wire.ok(told() >= missing, "which is all of them", told())

manager.stop_reading()
wire.eq(client.call("admin.reload")["changed"], [], "a service manager that does not read holds no reload up for long")
wire.eq(wire.Client().run("print(2)")["stdout"], "2\n", "nor runs")
ready = manager.count("READY=1")
manager.reads.set()
client.call("admin.reload")
wire.ok(manager.wait("READY=1", ready), "when it reads again, it is told")
fill_log()
manager.stop_reading()
wire.eq(manager.stop(), 0, "it stops in order while nobody reads")
wire.done()
