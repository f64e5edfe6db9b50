"""Runs until the journal, which hangs, has dropped an entry: 223-journal-hangs.py"""

import wire

client = wire.Client()
runs = 0
while client.call("admin.status")["messages"]["journal_dropped"] == 0:
    assert client.run("print(1)")["outcome"] == "ok"
    runs += 1
    assert runs < 2000, "the journal takes entries, though nobody reads them"
