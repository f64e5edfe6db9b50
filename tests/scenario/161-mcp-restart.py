"""Whatever ends cectl mcp, the sessions that it has opened end with it."""

import json
import os
import signal
import socket
import subprocess
import threading
import time

from wire import Client, done, eq

daemon = os.environ["CED_SOCKET"]
between = f"{os.path.dirname(daemon)}/between.sock"
client = Client()
connections = []


def copy(source, target):
    while piece := source.recv(65536):
        target.sendall(piece)
    for end in source, target:
        end.shutdown(socket.SHUT_RDWR)


def relay(listener):
    """Stands between cectl and the daemon, so that a connection can be lost while the daemon lives on."""
    while True:
        near = listener.accept()[0]
        far = socket.socket(socket.AF_UNIX)
        far.connect(daemon)
        connections.append((near, far))
        for ends in (near, far), (far, near):
            threading.Thread(target=quietly, args=(copy, *ends), daemon=True).start()


def quietly(function, *args):
    try:
        function(*args)
    except OSError:
        pass


def lose_connections():
    for ends in connections:
        for end in ends:
            quietly(end.shutdown, socket.SHUT_RDWR)
    connections.clear()


class Server:
    def __init__(self, **more):
        self.process = subprocess.Popen(["cectl", "mcp", "--socket", between], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)
        self.asked = 0

    def call(self, name, newline="\n", **arguments):
        self.asked += 1
        message = {"jsonrpc": "2.0", "id": self.asked, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        self.process.stdin.write((json.dumps(message) + newline).encode())
        self.process.stdin.flush()
        if newline:
            return self.answer()

    def answer(self):
        while message := self.process.stdout.readline():
            answer = json.loads(message)
            if answer.get("id") == self.asked:
                return answer["result"]


def open_sessions():
    return [one["session"] for one in client.call("session.list")["sessions"]]


def left_open():
    """The sessions that are not closed within a minute: the daemon may hear of it after cectl has ended."""
    for _ in range(600):
        if not open_sessions():
            break
        time.sleep(0.1)
    return open_sessions()


def opened(count=1, **more):
    server = Server(**more)
    for _ in range(count):
        server.call("open_session", language="python")
    return server


listener = socket.socket(socket.AF_UNIX)
listener.bind(between)
listener.listen()
threading.Thread(target=quietly, args=(relay, listener), daemon=True).start()

for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
    server = opened(2)
    eq(len(open_sessions()), 2, f"{number.name}: two sessions are open")
    server.process.send_signal(number)
    eq(server.process.wait(), -number, f"{number.name} ends cectl mcp")
    eq(left_open(), [], f"{number.name}: its sessions are closed")

server = opened()
mine = open_sessions()[0]
server.call("run_code", session=mine, code="x = 41")
server.asked += 1
run = {"name": "run_code", "arguments": {"session": mine, "code": "import time; print(1, flush=True); time.sleep(600)", "limits": {"wall_ms": 60000}},
       "_meta": {"progressToken": 1}}
server.process.stdin.write((json.dumps({"jsonrpc": "2.0", "id": server.asked, "method": "tools/call", "params": run}) + "\n").encode())
server.process.stdin.flush()
while b"progress" not in server.process.stdout.readline():
    pass
server.process.terminate()
eq(server.answer()["structuredContent"]["outcome"], "canceled", "a cell that runs at a signal is cancelled, and its client is answered")
eq((server.process.wait(), left_open()), (-signal.SIGTERM, []), "and its session is closed")

server = opened()
run_id = client.call("run", language="python", code="import time; time.sleep(600)", limits={"wall_ms": 60000}, detach=True)["run_id"]
server.call("wait_run", newline="", run_id=run_id)
server.process.stdin.write(b"\n")
server.process.stdin.flush()
server.process.stdin.close()
waited = server.answer()
eq((waited["isError"], "The run goes on" in waited["content"][0]["text"]), (True, True), "a wait for a run is answered at the end")
eq((server.process.wait(), left_open()), (0, []), "and keeps nobody waiting")
eq(client.call("runs.get", run_id=run_id)["state"], "running", "its run goes on")
client.call("cancel", run_id=run_id)

server = opened()
for _ in range(70):
    client.call("session.close", session=server.call("open_session", language="python")["structuredContent"]["session"])
eq(len(open_sessions()), 1, "one session is left of many")
server.process.terminate()
eq((server.process.wait(), left_open()), (-signal.SIGTERM, []), "and is closed at the end")

for _ in range(5):
    server = opened(2)
    lose_connections()
    server.process.terminate()
    eq((server.process.wait(), left_open()), (-signal.SIGTERM, []), "a connection that is lost at the end keeps no session open")

server = opened(2)
lose_connections()
eq(len(open_sessions()), 2, "sessions outlive the connection that opened them")
server.call("list_sessions")  # of the lost connection or of the next one
server.process.stdin.close()
eq((server.process.wait(), left_open()), (0, []), "and are closed at the end, over another connection")

server = opened()
mine = open_sessions()[0]
server.call("close_session", session=mine)
eq(open_sessions(), [], "a session that was closed is closed")
server.call("list_sessions", newline="")
server.process.stdin.close()
eq((server.answer()["isError"], server.process.wait()), (False, 0), "a last line without a newline is answered")

server = Server()
server.call("open_session", newline="", language="python")
server.process.stdin.close()
eq((server.process.wait(), left_open()), (0, []), "a session whose answer comes at the end is closed")

server = opened()
server.process.stdout.close()
server.call("list_sessions", newline="")
server.process.stdin.close()
eq((server.process.wait(), left_open()), (0, []), "sessions are closed also when nobody reads stdout any more")

server = Server()
both = server.call("run_code", language="python", code="1", files=[{"path": "a", "data": "x", "base64": "eA=="}])
eq((both["isError"], "a has data and base64: give one of them" in both["content"][0]["text"]), (True, True), "a file with both contents is told so")
eq(server.call("run_code", code="print(1)")["structuredContent"]["outcome"], "ok", "a program without a language is one of Python")
eq(server.call("open_session")["structuredContent"]["language"], "python", "and so is a session")
server.process.stdin.close()
server.process.wait()

server = opened(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
server.process.send_signal(signal.SIGHUP)
eq(server.call("list_sessions")["isError"], False, "a signal that was ignored at the start (nohup) stays ignored")
server.process.stdin.close()
eq((server.process.wait(), left_open()), (0, []), "and the end is the usual one")
done()
