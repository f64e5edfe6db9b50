import contextlib
import os
import sys
import tempfile
import threading
import time

from wire import Client, children, command, daemon_pid, descriptors, done, eq, ok, rss_kib, wait_until

spawner, runs = int(sys.argv[1]), int(sys.argv[2])
daemon = daemon_pid(spawner)
CLIENTS = 8


def cgroups():
    return sorted(folder for folder, _, _ in os.walk("/sys/fs/cgroup") if f"ced-{spawner}" in folder)


def mounts(pid="self"):
    """Without those that other tests make in their folders."""
    with open(f"/proc/{pid}/mountinfo") as file:
        return sum(not line.split()[4].startswith(tempfile.gettempdir() + "/") for line in file)


def jail_mounts():
    """Mounts in the zygote's own namespace; a leaked tmpfs would be among them."""
    counts = []
    for pid in children(spawner):
        try:
            counts.append(mounts(pid))
        except OSError:
            pass
    return max(counts, default=None)  # only root may look into a jail


def warm():
    client = Client()
    runtimes = client.call("runtimes")["runtimes"]
    client.close()
    return all(runtime["warm"] >= runtime["wanted"] for runtime in runtimes)


def opened(pid, is_store):
    """How many descriptors are open, of the store's files or of all else; None: only root may look."""
    count = 0
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                count += ("/ced.db" in os.readlink(f"/proc/{pid}/fd/{fd}")) == is_store
    except PermissionError:
        return None
    return count


def picture():
    return {
        "processes": len(children(spawner)),
        "descriptors of ced": opened(daemon, False),
        "descriptors of the spawner": descriptors(spawner),
        "cgroups": len(cgroups()),
        "mounts of the host": mounts(),
        "mounts of a jail": jail_mounts(),
    }


def settled_picture():
    """A picture that is the same half a second later, with all workers warm."""
    last = None
    for _ in range(120):
        wait_until(warm)
        now = picture()
        if now == last:
            break
        last = now
        time.sleep(0.5)
    return now


errors = []


def work(count):
    client = Client()
    for number in range(count):
        try:
            result = client.run(f"open('f', 'w').write('x' * 1000); print({number})")
            if (result["outcome"], result["stdout"]) != ("ok", f"{number}\n"):
                errors.append(result)
        except Exception as error:
            errors.append(error)
            return
    client.close()


def crowd(total):
    threads = [threading.Thread(target=work, args=(total // CLIENTS,)) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


crowd(3000)  # by now arenas, the pool and the store's page cache have reached their size
before = settled_picture()
memory_before = (rss_kib(daemon), rss_kib(spawner))
started = time.monotonic()
crowd(runs)
seconds = time.monotonic() - started
wait_until(lambda: picture() == before)  # what has leaked never goes
after = picture()
memory_after = (rss_kib(daemon), rss_kib(spawner))
ok(not errors, f"{runs} runs from {CLIENTS} clients without an error", errors[:2])
# Connections to the store are opened when somebody first needs one, and then kept: some of them by the clock.
ok((opened(daemon, True) or 0) <= 12, "no more connections to the store than there are threads that use it",
   opened(daemon, True))
for what in before:
    eq(after[what], before[what], f"as many {what} as before")
ok(memory_after[0] - memory_before[0] < 4096, f"ced's memory is level ({memory_before[0]} -> {memory_after[0]} KiB)")
ok(memory_after[1] - memory_before[1] < 1024, f"the spawner's too ({memory_before[1]} -> {memory_after[1]} KiB)")
print(f"# {runs / seconds:.0f} runs a second")
done()
