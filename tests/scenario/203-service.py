"""A service manager with a watchdog.  Starts a spawner as systemd would; waits for readiness and two watchdog pings."""

import os
import signal
import socket
import sys

program, path, state, *more = sys.argv[1:]
sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sock.bind(f"\0ced-manager-{os.getpid()}")
sock.settimeout(60)
pid = os.fork()
if pid == 0:
    os.environ.update(NOTIFY_SOCKET=f"@ced-manager-{os.getppid()}", WATCHDOG_USEC="200000", WATCHDOG_PID=str(os.getpid()))
    os.dup2(2, 1)
    os.execv(program, [program, "--", "--socket", path, "--state", state, *more])
try:
    words = []
    while words.count("WATCHDOG=1") < 2 or "READY=1" not in words:
        words.append(sock.recv(4096).decode())
    print("ready and fed")
finally:
    os.kill(pid, signal.SIGTERM)
    os.waitpid(pid, 0)
