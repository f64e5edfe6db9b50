"""`cectl web` for scenarios: starts it, and asks it without a browser."""

import atexit
import json
import signal
import socket
import subprocess
import urllib.parse


class Web:
    def __init__(self, *options):
        self.process = subprocess.Popen(["cectl", "web", "--json", *options], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a shell's jobs ignore it
        atexit.register(self.process.kill)
        said = json.loads(self.process.stdout.readline())
        self.address, self.token, self.url = said["address"], said["token"], said["url"]
        self.path = self.address.removeprefix("unix:") if self.address.startswith("unix:") else None
        self.host = "localhost" if self.path else self.address.removeprefix("http://").rstrip("/")

    def connect(self, timeout=120):
        if self.path:
            sock = socket.socket(socket.AF_UNIX)
            where = self.path
        else:
            name, _, port = self.host.rpartition(":")
            sock = socket.socket(socket.AF_INET6 if name.startswith("[") else socket.AF_INET)
            where = (name.strip("[]"), int(port))
        sock.settimeout(timeout)
        sock.connect(where)
        return sock

    def send(self, data):
        """Sends these bytes and reads to the end: (status, head, body).  Status 0: closed without an answer."""
        with self.connect() as sock:
            try:
                sock.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass
            return parts_of(read_all(sock))

    def get(self, path, token=None, host=None, **headers):
        lines = [f"GET {path} HTTP/1.1", f"Host: {host or self.host}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        return self.send("\r\n".join([*lines, "", ""]).encode())

    def ask(self, method, **params):
        """(status, document) of a question with the token."""
        query = urllib.parse.quote(json.dumps(params))
        status, _, body = self.get(f"/api/{method}?params={query}", self.token)
        return status, json.loads(body)

    def stream(self):
        """Begins a stream of events; see events()."""
        sock = self.connect()
        sock.sendall(f"GET /api/events HTTP/1.1\r\nHost: {self.host}\r\nAuthorization: Bearer {self.token}\r\n\r\n".encode())
        return sock

    def end(self):
        self.process.terminate()
        return self.process.wait(60)


def read_all(sock):
    data = b""
    while True:
        try:
            piece = sock.recv(1 << 16)
        except ConnectionResetError:
            return data
        if not piece:
            return data
        data += piece


def parts_of(data):
    head, _, body = data.partition(b"\r\n\r\n")
    if not head:
        return 0, "", b""
    return int(head.split(b" ")[1]), head.decode(), body


def events(sock):
    """The events of a stream, one by one."""
    rest = b""
    while True:
        piece = sock.recv(1 << 16)
        if not piece:
            return
        *whole, rest = (rest + piece).split(b"\n\n")
        for part in whole:
            if part.startswith(b"data: "):
                yield json.loads(part[len(b"data: "):])
            elif b"\r\n\r\ndata: " in part:
                yield json.loads(part.split(b"data: ", 1)[1])


def next_event(stream, **hoped):
    """The next event that has these keys."""
    for event in stream:
        if all(event.get(key) == value for key, value in hoped.items()):
            return event
    return None
