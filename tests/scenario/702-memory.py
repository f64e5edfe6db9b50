import socket
import sys

import msgpack

from wire import PATH, Client, daemon_pid, done, ok, rss_kib, wait_until

ROOM_KIB = 12 * 1024  # how much a daemon may have grown: caches of the store, stacks of threads

daemon = daemon_pid(int(sys.argv[1]))
client = Client()
for _ in range(60):
    client.run("print('y' * 3000)")
before = rss_kib(daemon)


def deaf(method, count, **params):
    """Sends the same request again and again, and reads nothing."""
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(PATH)
    sock.settimeout(3)
    try:
        for _ in range(count):
            sock.sendall(msgpack.packb([0, 1, method, [params]]))
    except OSError:
        pass  # the daemon no longer reads from it, or has disconnected it
    return sock


def held():
    return client.call("admin.status")["held_bytes"]


socks = [deaf("runs.list", 3000, limit=1000), deaf("runs.get", 8000, run_id="last")]
ok(wait_until(lambda: held() > 4 << 20), "replies wait for clients that never read")
middle = rss_kib(daemon)
ok(middle > before + ROOM_KIB / 2, f"and take memory: {middle - before} KiB")
for sock in socks:
    sock.close()
ok(wait_until(lambda: rss_kib(daemon) < before + ROOM_KIB),
   f"which goes back to the system when they have gone: {rss_kib(daemon) - before} KiB are left")
done()
