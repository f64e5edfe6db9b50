"""Asks the store far more than it can answer in a while."""

import sys
import time

from wire import Client

client = Client()
for msgid in [client.send("run", language="python", code="pass") for _ in range(300)]:
    client.receive(msgid)
crowd = [Client() for _ in range(30)]
for client in crowd:
    try:
        for _ in range(900):
            client.send("stats")
    except OSError:
        pass  # on a slow machine so many wait that the daemon closes one that holds the most
print("asked")
sys.stdout.flush()
time.sleep(60)
