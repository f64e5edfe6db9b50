"""ced runs out of descriptors at random moments, again and again, and stays up."""

import resource
import sys
import threading
import time

from wire import Client, daemon_pid, done, eq, ok, wait_until

spawner = int(sys.argv[1])
ced = daemon_pid(spawner)
before = resource.prlimit(ced, resource.RLIMIT_NOFILE)
over = threading.Event()
odd = []


def busy():
    """Runs that open and close descriptors of all kinds: workers, zygotes, inspectors, stdin, artifacts."""
    n = 0
    while not over.is_set():
        n += 1
        try:
            client = Client(timeout=30)
            while not over.is_set():
                result = client.run(f"print({n})", stdin=b"x" * 100_000, artifacts=["*"])
                if result["outcome"] not in ("ok", "sandbox_error", "policy_denied", "refused"):
                    odd.append(result)
        except (EOFError, OSError, RuntimeError):
            time.sleep(0.02)


crowd = [threading.Thread(target=busy) for _ in range(4)]
for one in crowd:
    one.start()
for turn in range(12):
    # Open descriptors stay open, but a new one would have to be below the limit.
    resource.prlimit(ced, resource.RLIMIT_NOFILE, (4, before[1]))
    time.sleep(0.4)
    resource.prlimit(ced, resource.RLIMIT_NOFILE, before)
    time.sleep(0.3)
    if daemon_pid(spawner) != ced:
        break
over.set()
for one in crowd:
    one.join()
eq(daemon_pid(spawner), ced, "the daemon is the same after 12 times without a descriptor")
eq(odd, [], "and told nobody of an end that was none")


def runs():
    try:
        return Client(timeout=20).run("print('again')")["outcome"] == "ok"
    except (EOFError, OSError, RuntimeError):
        return False


ok(wait_until(runs), "programs run again")
done()
