import sys
import threading

from wire import Client, done, eq, ok

HUNGRY = "kept = bytearray(b'x') * (150 << 20)\nprint(len(kept))"
GREEDY = "kept = bytearray(b'x') * (90 << 20)\nprint(len(kept))"

# Each run may have more memory than all of them together can get.
ends = []


def run():
    ends.append(Client().run(HUNGRY, limits={"memory_bytes": 400 << 20, "wall_ms": 60000, "cpu_ms": 60000}))


threads = [threading.Thread(target=run) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
eq({end["outcome"] for end in ends}, {"sandbox_error"}, "who is killed for want of the host's memory is not to blame")
hit = ends[0]
eq(hit["ran"], "yes", "it is told as having run")
eq(hit["evidence"]["cause"], "host_memory", "the evidence says why")
ok(hit["evidence"]["cgroup"].endswith(sys.argv[1]), "and which cgroup was out", hit["evidence"])
ok(hit["evidence"]["cgroup_limit_bytes"] < 400 << 20, "and its limit", hit["evidence"])
ok(hit["evidence"]["peak_bytes"] < 160 << 20, "and what the program had used", hit["evidence"])
ok("host ran out of memory" in hit["reason"], "the reason says it in words", hit["reason"])

# A run that passes its own limit is still reported as memory_limit.
end = Client().run(GREEDY, limits={"memory_bytes": 40 << 20, "wall_ms": 60000, "cpu_ms": 60000})
eq(end["outcome"], "memory_limit", "who passes its own limit is told so")
eq(end["evidence"]["limit_bytes"], 40 << 20, "with that limit")
eq(Client().run("print(1)")["outcome"], "ok", "and the daemon goes on")
done()
