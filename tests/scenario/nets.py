"""Servers for runs with a network, all on loopback: names, HTTP, HTTPS, echo, a sink and a source of bytes.

    nets.py FOLDER    serves until it is killed; FOLDER/ports has a line "name port" for each
"""

import contextlib
import http.server
import os
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import threading
import time

# What the server of names answers; others do not exist.  `flip.test` changes with each question.
NAMES = {
    "api.test": ["127.0.0.1"],
    "deep.pages.test": ["127.0.0.1"],
    "meta.test": ["169.254.169.254"],
    "loop.test": ["127.0.0.2"],
    "inner.test": ["10.1.2.3"],
    "mixed.test": ["10.1.2.3", "127.0.0.1"],
    "nobody.test": ["127.0.0.1"],
    "mapped.test": ["::ffff:127.0.0.2"],
    "six.test": ["::1"],
    "slow.test": ["127.0.0.1"],
    "long.test": ["127.0.0.1"],
}
ALERT = b"\x15\3\3\0\2\2\x28"
SLOW_S = 1  # for `slow.test`
flips = [0]


def addresses(name):
    if name == "flip.test":
        flips[0] += 1
        return ["127.0.0.1"] if flips[0] % 2 else ["127.0.0.2"]
    return NAMES.get(name)


class Names(socketserver.BaseRequestHandler):
    """As little of a DNS server as a resolver needs.  `long.test` is told by TCP only."""

    def handle(self):
        question, sock = self.request
        sock.sendto(self.answer(question), self.client_address)

    def answer(self, question, cuts=True):
        at, labels = 12, []
        while question[at]:
            labels.append(question[at + 1 : at + 1 + question[at]].decode("latin-1"))
            at += 1 + question[at]
        kind = struct.unpack_from(">H", question, at + 1)[0]
        found = addresses(".".join(labels).lower())
        ttl = 0 if labels[0] in ("flip", "slow") else 30
        if labels[0] == "slow":
            time.sleep(SLOW_S)
        rows = []
        for text in found or []:
            family = socket.AF_INET6 if ":" in text else socket.AF_INET
            if kind == (28 if family == socket.AF_INET6 else 1):
                data = socket.inet_pton(family, text)
                rows.append(b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, ttl, len(data)) + data)
        flags = 0x8180 if found else 0x8183
        if labels[0] == "long" and cuts:
            flags, rows = flags | 0x200, []
        head = struct.pack(">HHHHHH", struct.unpack_from(">H", question)[0], flags, 1, len(rows), 0, 0)
        return head + question[12 : at + 5] + b"".join(rows)


class LongNames(Names):
    def handle(self):
        try:
            while size := self.request.recv(2, socket.MSG_WAITALL):
                answer = self.answer(self.request.recv(*struct.unpack(">H", size), socket.MSG_WAITALL), False)
                self.request.sendall(struct.pack(">H", len(answer)) + answer)
        except OSError:
            pass


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = f"{self.command} {self.path} of {self.headers.get('Host', '').split(':')[0]}".encode()
        if self.path.startswith("/big/"):
            body = bytes(int(self.path.split("/")[2]))
        if self.path.startswith("/files/"):
            try:
                with open(os.path.join(FOLDER, "www", os.path.basename(self.path)), "rb") as file:
                    body = file.read()
            except OSError:
                self.send_error(404)
                return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "text/html" if self.path.endswith("/") else "application/octet-stream")
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_):
        pass


class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        first = True
        try:
            while data := self.request.recv(65536):
                if data.startswith(b"reset"):
                    self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.request.close()
                    return
                if data.startswith(b"urgent"):
                    self.request.send(b"!", socket.MSG_OOB)
                if first and data.startswith(b"\x16"):
                    self.request.sendall(ALERT)  # as a server says that it is none of TLS
                first = False
                self.request.sendall(data)
        except OSError:
            pass


class Cut(socketserver.BaseRequestHandler):
    """The server `retry`, whose first answer comes in two pieces."""

    def handle(self):
        with socket.create_connection(CUT_FROM[0]) as server:
            self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=copy, args=(self.request, server), daemon=True).start()
            first = server.recv(65536)
            self.request.sendall(first[:50])
            time.sleep(0.2)
            self.request.sendall(first[50:])
            copy(server, self.request)


CUT_FROM = [None]


def copy(one, other):
    try:
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Sink(socketserver.BaseRequestHandler):
    """
    Says how many bytes came.  After the word `still` it reads on only when FOLDER/read is there, after the word
    `talks` it reads slowly, and says something for each piece.
    """

    def handle(self):
        count = 0
        talks = False
        try:
            while data := self.request.recv(65536):
                count += len(data)
                talks |= data.startswith(b"talks")
                if talks:
                    time.sleep(0.01)
                    with contextlib.suppress(OSError):  # what came before a reset can still be read
                        self.request.sendall(b".")
                while data.startswith(b"still") and not os.path.exists(os.path.join(FOLDER, "read")):
                    time.sleep(0.05)
            self.request.sendall(b"%d" % count)
        except OSError:
            pass
        with open(os.path.join(FOLDER, "sunk"), "a", encoding="ascii") as file:
            file.write(f"{count}\n")


class Threads(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 512


class Datagrams(socketserver.ThreadingMixIn, socketserver.UDPServer):
    daemon_threads = True


def certificate(folder):
    """A certificate for all names of the test, which is its own authority."""
    made = [os.path.join(folder, name) for name in ("cert.pem", "key.pem")]
    if not os.path.exists(made[0]):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3", "-subj", "/CN=api.test",
                        "-addext", "subjectAltName=DNS:api.test,DNS:*.pages.test,DNS:flip.test", "-out", made[0],
                        "-keyout", made[1]], check=True, capture_output=True)
    return made


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate(FOLDER))
    retrying = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    retrying.load_cert_chain(*certificate(FOLDER))
    retrying.set_ecdh_curve("secp384r1")  # of which no client sends a key at once
    servers = {"dns_tcp": Threads(("127.0.0.1", 0), LongNames)}
    servers["dns"] = Datagrams(servers["dns_tcp"].server_address, Names)
    for name, handler in (("http", Pages), ("https", Pages), ("echo", Echo), ("sink", Sink), ("retry", Pages), ("cut", Cut)):
        servers[name] = Threads(("127.0.0.1", 0), handler)
    for name, secure in (("https", context), ("retry", retrying)):
        servers[name].socket = secure.wrap_socket(servers[name].socket, server_side=True, do_handshake_on_connect=False)
    CUT_FROM[0] = servers["retry"].server_address
    for server in servers.values():
        threading.Thread(target=server.serve_forever, daemon=True).start()
    with open(os.path.join(FOLDER, "ports.new"), "w", encoding="ascii") as file:
        for name, server in servers.items():
            file.write(f"{name} {server.server_address[1]}\n")
        spare = socket.socket()  # a port where nobody listens
        spare.bind(("127.0.0.1", 0))
        file.write(f"nobody {spare.getsockname()[1]}\n")
    os.rename(os.path.join(FOLDER, "ports.new"), os.path.join(FOLDER, "ports"))
    threading.Event().wait()


if __name__ == "__main__":
    FOLDER = sys.argv[1]
    main()
