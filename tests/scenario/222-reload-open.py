"""One connection while the settings change: 222-reload-open.py TOLD HEARD (two fifos)

TOLD says which state to look at now; HEARD gets the word when that is done.
"""

import sys

import wire

TOLD = open(sys.argv[1], encoding="ascii")
HEARD = open(sys.argv[2], "w", encoding="ascii")


def hear(word):
    print(word, file=HEARD, flush=True)


def next_state(word):
    wire.eq(TOLD.readline().strip(), word, f"the settings say: {word}")


def error_of(client, method, **params):
    error, _ = client.receive(client.send(method, **params))
    return error and error["code"]


def finished(client):
    """The uids of runs that it heard of since the last call."""
    uids = [notice[1][0]["uid"] for notice in client.notices
            if notice[0] == "event" and notice[1][0]["kind"] == "finished"]
    client.notices.clear()
    return uids


client = wire.Client()
client.call("events.subscribe", kinds=["finished"])
wire.eq(error_of(client, "admin.status"), None, "as an administrator it reads the daemon's state")
hear("connected")

next_state("demoted")
wire.eq(error_of(client, "admin.status"), "forbidden", "as a user it does not any more")
wire.eq(client.run("print(1)")["outcome"], "ok", "but runs programs")
wire.eq(finished(client), [4001], "and hears of its own runs alone")
hear("demoted")

next_state("refused")
wire.eq(error_of(client, "run", language="python", code="print(1)"), "forbidden", "without a role it runs nothing")
hear("refused")

next_state("promoted")
wire.eq(error_of(client, "admin.status"), None, "and an administrator again reads it")
hear("promoted")
wire.done()
