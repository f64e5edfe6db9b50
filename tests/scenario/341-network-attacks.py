"""Each way around the rules of a network ends inside the jail, or at ced-egress, and is told."""

import os
import signal
import subprocess
import sys
import time

from wire import Client, children, command, daemon_pid, done, eq, ok, wait_until

FOLDER, SPAWNER = sys.argv[1], int(sys.argv[2])
with open(os.path.join(FOLDER, "ports"), encoding="ascii") as file:
    PORTS = {name: int(port) for name, port in (line.split() for line in file)}
HTTP, HTTPS, ECHO, SINK = (PORTS[name] for name in ("http", "https", "echo", "sink"))
PLAIN, SECURE = f"api.test:{HTTP}", {"host": "api.test", "ports": [HTTPS], "tls": True}
PATTERNS = [{"host": "*.test", "ports": [HTTP, ECHO]}, {"host": "*.pages.test", "ports": [HTTPS], "tls": True}]
client = Client()

# What every program of this test begins with: try_() prints what a piece of code ends with.
HEAD = """
import errno, os, socket, ssl, struct, sys, time
def try_(what):
    try:
        print(what())
    except OSError as error:
        print(errno.errorcode.get(error.errno, type(error).__name__))
def talk(host, port, data=b'', most=4096):
    s = socket.create_connection((host, port), timeout=20)
    if data:
        s.sendall(data)
    got = b''
    while len(got) < most and (piece := s.recv(most - len(got))):
        got += piece
    return got
def half(address, data):
    s = socket.create_connection(address, timeout=20)
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
    return s.recv(1)
def proxy(head, tail=b''):
    got = talk('127.0.0.1', 3128, head.encode('latin-1') + tail)
    return got.split(b'\\r\\n')[0].decode('latin-1')
"""


def run(code, allow=None, connection=client, **network):
    return connection.call("run", language="python", code=HEAD + code, limits={"wall_ms": 60000, "cpu_ms": 60000},
                           **({"network": {"allow": allow, **network}} if allow else {}))


def tried(code, allow):
    """What the program printed, and (host, verdict, why) of its connections."""
    result = run(code, allow)
    if result["outcome"] != "ok":
        print("#", result["outcome"], result["stderr"][-500:])
    rows = [(row["host"], row["verdict"], row.get("why")) for row in result.get("connections", [])]
    return result["stdout"].strip().split("\n"), rows


# ---- the record says where a run connected -----------------------------------------------------

TOKEN = "glpat-" + "a" * 22 + ".api.test"
hidden = client.call("run", language="python", code=HEAD + f"print(proxy('CONNECT {TOKEN}:22 HTTP/1.1\\r\\n\\r\\n'), talk('api.test', {ECHO}, b'x', 1))",
                     network={"allow": [f"api.test:{ECHO}", *PATTERNS]}, secrets=["api.test", "allowed", "address", "allow", "python", "verdict"])
record = client.call("runs.get", run_id=hidden["run_id"])
eq(sorted((row["host"], row["port"], row["way"], row["verdict"]) for row in record["connections"]),
   [("[masked:secret]", ECHO, "address", "allowed"), ("glpat-" + "a" * 22 + ".[masked:secret]", 22, "proxy", "denied")],
   "no mask hides a verdict, and patterns hide no host")
eq((record["request"]["network"]["allow"][0], record["request"]["language"]), (f"[masked:secret]:{ECHO}", "python"), "nor the keys of what it asked for")

# ---- a run that asked for nothing stays as it was ----------------------------------------------

lines, rows = tried("try_(lambda: socket.socket())\ntry_(lambda: open('/etc/hosts').read())", None)
eq((lines, rows), (["EPERM", "ENOENT"], []), "without a network there is no socket and no file of hosts")

# ---- addresses and ports beside the listed ones ------------------------------------------------

lines, rows = tried(f"""
for address in ('93.184.216.34', '10.0.0.1', '169.254.169.254', '8.8.8.8'):
    try_(lambda: talk(address, {HTTP}))
try_(lambda: talk('api.test', 22))
try_(lambda: talk('198.18.0.1', {HTTPS}))
try_(lambda: talk('127.0.0.1', 3128))
""", [PLAIN])
eq(lines, ["ENETUNREACH"] * 4 + ["ECONNREFUSED"] * 3, "there is no way out, and no listener on another port")
eq(rows, [], "and nothing of it leaves the jail")
lines, rows = tried(f"""
for address in ('198.18.0.2', '198.19.255.254', '127.0.0.1', '0.0.0.0'):
    try_(lambda: talk(address, {HTTP}, b'GET / HTTP/1.0\\r\\n\\r\\n'))
""", [PLAIN])
eq(lines, ["ECONNRESET"] * 4, "an address next to a listed one is reset")
eq([row[1:] for row in rows], [("denied", "not_listed")] * len(rows), "as not listed")
ok({row[0] for row in rows} >= {"198.18.0.2", "198.19.255.254", "127.0.0.1"}, f"and each is told: {rows}")
lines, rows = tried(f"try_(lambda: talk('127.0.0.1', {HTTP}))\ntry_(lambda: talk('api.test', {ECHO}, b'x', 1))",
                    [PLAIN, f"nobody.test:{ECHO}"])
eq(lines, ["ECONNRESET", "ECONNRESET"], "host of one rule and port of another are no pair")

# ---- names that lead to closed addresses -------------------------------------------------------

for name in ("meta", "loop", "inner", "mapped", "six"):
    lines, rows = tried(f"try_(lambda: talk('{name}.test', {HTTP}, b'GET / HTTP/1.0\\r\\n\\r\\n'))",
                        [f"{name}.test:{HTTP}"])
    eq((lines, rows), (["ECONNRESET"], [(f"{name}.test", "denied", "closed_address")]), f"{name}.test leads nowhere")
lines, rows = tried(f"try_(lambda: talk('mixed.test', {ECHO}, b'x', 1))", [f"mixed.test:{ECHO}"])
eq((lines, rows), (["b'x'"], [("mixed.test", "allowed", None)]), "of two addresses only the open one is used")
lines, rows = tried(f"for i in range(6): try_(lambda: talk('flip.test', {ECHO}, b'x', 1))", [f"flip.test:{ECHO}"])
ok(set(lines) <= {"b'x'", "ECONNRESET"} and all(row[1] == "allowed" or row[2] == "closed_address" for row in rows),
   f"a name that changes leads to what was checked, or nowhere: {lines} {rows}")
lines, rows = tried(f"try_(lambda: talk('absent.test', {HTTP}))", [f"absent.test:{HTTP}"])
eq((lines, rows), (["ECONNRESET"], [("absent.test", "failed", "name_not_found")]), "a name that is not there fails")
lines, rows = tried(f"try_(lambda: talk('nobody.test', {PORTS['nobody']}))", [f"nobody.test:{PORTS['nobody']}"])
eq((lines, rows), (["ECONNRESET"], [("nobody.test", "failed", "not_reached")]), "and so does a port without a server")
lines, rows = tried("try_(lambda: socket.getaddrinfo('other.test', 80))", [PLAIN])
ok(lines == ["gaierror"] or lines[0].startswith("E"), f"other names are not known inside: {lines}")
lines, rows = tried(f"for name in ('API.TEST', 'api.test.', 'api.test\\0.evil', 'a' * 250 + '.test', 'xn--api.test'):\n"
                    f"    try: try_(lambda: talk(name, {ECHO}, b'x', 1))\n"
                    "    except ValueError: print('ValueError')", [f"api.test:{ECHO}"])
# A C library ends a name at its NUL.
ok(lines[0] == "b'x'" and len(lines) == 5 and all(line == "b'x'" or line.endswith("Error") or line == "gaierror" for line in lines)
   and {row[0] for row in rows} == {"api.test"}, f"names that are written in another way are the listed one, or none: {lines} {rows}")

# ---- TLS ---------------------------------------------------------------------------------------

TLS = f"""
context = ssl._create_unverified_context()
def greet(name):
    s = context.wrap_socket(socket.create_connection(('api.test', {HTTPS}), timeout=20), server_hostname=name)
    s.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')
    return s.recv(15)
def hello(name, cut=0, more=b''):
    i, o = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        context.wrap_bio(i, o, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    data = o.read()
    if more:
        body = data[5:]
        at = 4 + 2 + 32
        at += 1 + body[at]
        at += 2 + struct.unpack_from('>H', body, at)[0]
        at += 1 + body[at]
        grown = body[at + 2:] + more
        body = body[:at] + struct.pack('>H', len(grown)) + grown
        body = body[:1] + struct.pack('>I', len(body) - 4)[1:] + body[4:]
        data = data[:3] + struct.pack('>H', len(body)) + body
    if cut:
        body = data[5:]
        data = b''.join(data[:3] + struct.pack('>H', len(body[at:at + cut])) + body[at:at + cut]
                        for at in range(0, len(body), cut))
    return data
def answers(data, pause=0):
    s = socket.create_connection(('api.test', {HTTPS}), timeout=30)
    if pause:
        for byte in data:
            s.sendall(bytes([byte]))
            time.sleep(pause)
    else:
        s.sendall(data)
    return s.recv(1) == b'\\x16'
"""
for title, code, line, why in (
        ("the name of the rule", "greet('api.test')", "b'HTTP/1.1 200 OK'", None),
        ("another name", "greet('deep.pages.test')", "ECONNRESET", "other_server_name"),
        ("no name", "greet(None)", "ECONNRESET", "no_server_name"),
        ("plain text", f"talk('api.test', {HTTPS}, b'GET / HTTP/1.0\\r\\n\\r\\n')", "ECONNRESET", "not_tls"),
        ("nothing at all", f"talk('api.test', {HTTPS})", "ECONNRESET", "timeout"),
        ("a greeting in pieces of one byte", "answers(hello('api.test', 1))", "True", None),
        ("another name in pieces", "answers(hello('other.test', 3))", "ECONNRESET", "other_server_name"),
        ("a name in capitals", "answers(hello('API.test'))", "True", None),
        ("an encrypted greeting", "answers(hello('api.test', 0, b'\\xfe\\x0d\\0\\4abcd'))", "ECONNRESET",
         "hidden_server_name"),
        ("two names", "answers(hello('api.test', 0, b'\\0\\0\\0\\7\\0\\5\\0\\0\\2ab'))", "ECONNRESET", "not_tls"),
        ("a name of 300 bytes",
         "answers(hello(None, 0, struct.pack('>HHHBH', 0, 305, 303, 0, 300) + b'a' * 300))", "ECONNRESET", "not_tls"),
        ("a length beyond the end", "answers(b'\\x16\\3\\1\\0\\4\\1\\0\\xff\\xff' + bytes(90000))", "ECONNRESET", "not_tls"),
        ("a name with a line feed", "answers(hello(None, 0, struct.pack('>HHHBH', 0, 9, 7, 0, 4) + b'a\\n\\xff\"'))",
         "ECONNRESET", "not_tls"),
        ("nothing, and the end of it", f"half(('api.test', {HTTPS}), b'')", "ECONNRESET", "not_tls"),
        ("half a greeting, and the end of it", f"half(('api.test', {HTTPS}), hello('api.test')[:99])", "ECONNRESET", "not_tls"),
        ("a drip", "answers(hello('api.test'), .3)", "EPIPE ECONNRESET", "timeout")):
    lines, rows = tried(TLS + f"try_(lambda: {code})", [SECURE])
    ok(lines[0] in line.split() or lines[0] == line, f"TLS with {title}: {lines}")
    eq([row[2] for row in rows], [why], f"... which is told as {why}")

# A page that was sent by sendfile() is not copied: what waits in the socket changes with the file.
lines, rows = tried(TLS + f"""
first, second = hello('slow.test'), hello('evil.test')
with open('greeting', 'wb+', buffering=0) as file:
    file.write(first)
    s = socket.create_connection(('slow.test', {ECHO}), timeout=20)
    sent = os.sendfile(s.fileno(), file.fileno(), 0, len(first))
    time.sleep(.3)  # ced-egress has looked, and asks for the address, which takes longer
    file.seek(0)
    file.write(second)
s.shutdown(socket.SHUT_WR)
got = b''
while piece := s.recv(4096):
    got += piece
print(sent == len(first), got[7:] == first, b'evil' in got)  # after an alert
""", [{"host": "slow.test", "ports": [ECHO], "tls": True}])
eq(lines, ["True True False"], "a greeting that changes after ced-egress has looked at it leaves as it was looked at")
eq(rows, [("slow.test", "allowed", None)], "... and is told")

# A server that wants another key asks for a second greeting, and takes the name from that one.
RETRY = PORTS["retry"]
lines, rows = tried(TLS + f"""
def again(change, ahead=b'', port={RETRY}):
    i, o = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(i, o, server_hostname='api.test')
    s = socket.create_connection(('api.test', port), timeout=20)
    for part in range(2):
        try:
            client.do_handshake()
        except ssl.SSLWantReadError:
            pass
        data = o.read()
        s.sendall(change(data) if part else data)
        if not part and ahead: s.sendall(ahead)
        while not part and (answer := s.recv(65536)) and len(answer) == 50:
            i.write(answer)
        i.write(s.recv(65536) if part else answer)
    while True:
        try:
            client.do_handshake()
            break
        except ssl.SSLWantReadError:
            s.sendall(o.read())
            i.write(s.recv(65536))
    client.write(b'GET /again HTTP/1.0\\r\\n\\r\\n')
    s.sendall(o.read())
    while True:
        try:
            return client.read(15)
        except ssl.SSLWantReadError:
            i.write(s.recv(65536))
assert hello('api.test').count(b'api.test') == 1
try_(lambda: again(lambda data: data))
try_(lambda: again(lambda data: data, port={PORTS["cut"]}))
try_(lambda: again(lambda data: data.replace(b'api.test', b'bad.test')))
try_(lambda: again(lambda data: data[:data.index(b'\\x16')] + b'\\x17\\3\\3\\0\\1x' + data[data.index(b'\\x16'):]))
try_(lambda: again(lambda data: data, hello('bad.test')))
try_(lambda: socket.create_connection(('api.test', {RETRY})).close())
""", [{"host": "api.test", "ports": [RETRY, PORTS["cut"]], "tls": True}])
eq(lines, ["b'HTTP/1.1 200 OK'"] * 2 + ["ECONNRESET"] * 3 + ["None"], "a second greeting that the server asks for leaves if it names the same server")
eq([row[1:] for row in rows], [("allowed", None), ("allowed", None), ("denied", "other_server_name"), ("denied", "not_tls"), ("denied", "not_tls")],
   "... and each is told, once")

# The same with so many names that their rows would leave no room for others.
hidden = run(TLS + f"""
i, o = ssl.MemoryBIO(), ssl.MemoryBIO()
client = context.wrap_bio(i, o, server_hostname='api.test')
first = second = b''
for n in range(140):
    s = socket.create_connection(('api.test', {RETRY}), timeout=20)
    if not first:
        try_(client.do_handshake)
        first = o.read()
    s.sendall(first)
    answer = s.recv(65536)
    if not second:
        i.write(answer)
        try_(client.do_handshake)
        second = o.read()
    s.sendall(second.replace(b'api.test', b'%03d.test' % n))
    try_(lambda: s.recv(1))
s = socket.create_connection(('api.test', {SINK}))
s.sendall(bytes(1000)); s.shutdown(socket.SHUT_WR); s.recv(1)
""", [{"host": "api.test", "ports": [RETRY], "tls": True}, f"api.test:{SINK}"], connections=200)
eq([(row["port"], row["up"]) for row in hidden["connections"] if row["verdict"] == "allowed" and row["port"] == SINK], [(SINK, 1000)],
   "connections that are denied for their second greetings leave room for one that is allowed")

# A long answer of the server of names comes by TCP.
lines, rows = tried(f"try_(lambda: talk('long.test', {ECHO}, b'x', 1))", [f"long.test:{ECHO}"])
eq((lines, rows), (["b'x'"], [("long.test", "allowed", None)]), "a name whose answer is too long for a datagram is found")

# ---- the proxy ---------------------------------------------------------------------------------

BAD = "HTTP/1.1 403 Forbidden"
for title, head, line, why in (
        ("a listed host", f"CONNECT a.api.test:{HTTP} HTTP/1.1\\r\\n\\r\\n", "HTTP/1.1 502 Bad Gateway", "name_not_found"),
        ("127.0.0.1", f"CONNECT 127.0.0.1:{HTTP} HTTP/1.1\\r\\n\\r\\n", BAD, "not_listed"),
        ("[::1]", f"CONNECT [::1]:{HTTP} HTTP/1.1\\r\\n\\r\\n", BAD, "bad_request"),
        ("0", f"CONNECT 0:{HTTP} HTTP/1.1\\r\\n\\r\\n", BAD, "not_listed"),
        ("an address in hex", f"CONNECT 0x7f.0.0.1:{HTTP} HTTP/1.1\\r\\n\\r\\n", BAD, "not_listed"),
        ("localhost", f"CONNECT localhost:{HTTP} HTTP/1.1\\r\\n\\r\\n", BAD, "not_listed"),
        ("metadata", f"CONNECT meta.test:{HTTP} HTTP/1.1\\r\\n\\r\\n", BAD, "closed_address"),
        ("another port", "CONNECT api.test:22 HTTP/1.1\\r\\n\\r\\n", BAD, "not_listed"),
        ("the suffix alone", f"CONNECT test:{HTTP} HTTP/1.1\\r\\n\\r\\n", BAD, "not_listed"),
        ("a suffix that only ends alike", f"CONNECT apitest:{HTTP} HTTP/1.1\\r\\n\\r\\n", BAD, "not_listed"),
        ("a URL for TLS", f"GET http://deep.pages.test:{HTTPS}/ HTTP/1.1\\r\\n\\r\\n", BAD, "not_tls"),
        ("HTTP/0.9", f"GET http://api.test:{HTTP}/\\r\\n\\r\\n", BAD, "bad_request"),
        ("CR in the name", f"CONNECT api.test\\r:{HTTP} HTTP/1.1\\r\\n\\r\\n", BAD, "bad_request"),
        ("a bare line feed", f"CONNECT api.test:{HTTP} HTTP/1.1\\nA: b\\r\\n\\r\\n", BAD, "bad_request"),
        ("NUL", f"CONNECT api.test\\0.example:{HTTP} HTTP/1.1\\r\\n\\r\\n", BAD, "bad_request"),
        ("two lengths", f"POST http://api.test:{HTTP}/ HTTP/1.1\\r\\nContent-Length: 1\\r\\nContent-Length: 2\\r\\n\\r\\n", BAD,
         "bad_request"),
        ("a length and chunks",
         f"POST http://api.test:{HTTP}/ HTTP/1.1\\r\\nContent-Length: 1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n", BAD,
         "bad_request"),
        ("credentials in the URL", f"GET http://u:p@api.test:{HTTP}/ HTTP/1.1\\r\\n\\r\\n", BAD, "bad_request"),
        ("a URL of another kind", "GET ftp://api.test/ HTTP/1.1\\r\\n\\r\\n", BAD, "bad_request"),
        ("a name of 254 letters", "CONNECT " + "a" * 250 + f".test:{HTTP} HTTP/1.1\\r\\n\\r\\n", "HTTP/1.1 502 Bad Gateway",
         "name_not_found"),
        ("another Host", f"GET http://api.test:{HTTP}/ HTTP/1.1\\r\\nHost: meta.test\\r\\n\\r\\n", "HTTP/1.1 200 OK", None),
        ("capitals and a dot", f"GET http://API.Test.:{HTTP}/ HTTP/1.1\\r\\n\\r\\n", "HTTP/1.1 200 OK", None),
        ("xn--", f"CONNECT xn--bcher-kva.test:{HTTP} HTTP/1.1\\r\\n\\r\\n", "HTTP/1.1 502 Bad Gateway", "name_not_found")):
    lines, rows = tried(f"try_(lambda: proxy('{head}'))", PATTERNS)
    ok(lines == [line], f"the proxy and {title}: {lines}")
    eq([row[2] for row in rows], [why], f"... which is told as {why}")
lines, rows = tried("try_(lambda: proxy('GET / HTTP/1.1\\r\\nA: ' + 'a' * 16384))", PATTERNS)
ok(lines[0] in (BAD, "ECONNRESET") and [row[2] for row in rows] == ["bad_request"], f"a head that is too long: {lines} {rows}")
lines, rows = tried(f"try_(lambda: talk('127.0.0.1', 3128, b'GET http://api.test:{HTTP}/ HTTP/1.1\\r\\nHost: meta.test\\r\\n\\r\\n')"
                    ".split(b'\\r\\n\\r\\n')[1])", PATTERNS)
eq(lines, ["b'GET / of api.test'"], "the server sees the host of the URL")
lines, rows = tried("s = socket.create_connection(('127.0.0.1', 3128))\ntry:\n    while True:\n"
                    "        s.sendall(b'a'); time.sleep(.5)\nexcept OSError: print('cut')", PATTERNS)
eq((lines, [row[2] for row in rows]), (["cut"], ["timeout"]), "a head that drips is cut")

lines, rows = tried("try_(lambda: half(('127.0.0.1', 3128), b'GET http'))", PATTERNS)
eq((lines, [row[2] for row in rows]), (["b'H'"], ["bad_request"]), "a head that ends early is answered at once")
head = "'GET http://api.test:%d/ HTTP/1.1\\r\\n' + 'A: %s\\r\\n' * 4 + '\\r\\n'" % (HTTP, "a" * 3900)
lines, rows = tried(f"try_(lambda: proxy({head}))", PATTERNS)
eq((lines, [row[1] for row in rows]), (["HTTP/1.1 200 OK"], ["allowed"]), "a long head arrives whole")

# ---- half-closed connections, urgent bytes -----------------------------------------------------

lines, rows = tried(f"""
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
s.connect(('api.test', {HTTP}))
s.sendall(b'GET /big/3000000 HTTP/1.0\\r\\n\\r\\n')
s.shutdown(socket.SHUT_WR)
count = 0
while piece := s.recv(65536):
    count += len(piece)
    time.sleep(.002)
print(count > 3000000)
""", [PLAIN])
eq((lines, [row[1] for row in rows]), (["True"], ["allowed"]), "who has said all still gets the whole answer")
lines, rows = tried(f"""
s = socket.create_connection(('api.test', {ECHO}))
try_(lambda: s.send(b'!', socket.MSG_OOB))
""", [f"api.test:{ECHO}"])
eq(lines, ["EPERM"], "a program sends no urgent bytes")
lines, rows = tried(f"""
s = socket.create_connection(('api.test', {ECHO}))
s.sendall(b'urgent')
got = b''
while len(got) < 7: got += s.recv(100)
print(got)
""", [f"api.test:{ECHO}"])
eq((lines, rows), (["b'!urgent'"], [("api.test", "allowed", None)]), "those of a server arrive as ordinary ones")

lines, rows = tried(f"try_(lambda: talk('api.test', {ECHO}, b'reset'))", [f"api.test:{ECHO}"])
eq((lines, rows), (["ECONNRESET"], [("api.test", "allowed", None)]), "a server's reset is one for the program")

# ---- other sockets -----------------------------------------------------------------------------

lines, rows = tried("""
for family, kind in ((socket.AF_INET, socket.SOCK_DGRAM), (socket.AF_INET, socket.SOCK_RAW),
                     (socket.AF_INET6, socket.SOCK_STREAM), (socket.AF_NETLINK, socket.SOCK_RAW),
                     (socket.AF_UNIX, socket.SOCK_STREAM), (socket.AF_PACKET, socket.SOCK_RAW),
                     (socket.AF_VSOCK, socket.SOCK_STREAM), (38, socket.SOCK_SEQPACKET)):
    try_(lambda: socket.socket(family, kind))
""", [PLAIN])
eq(lines, ["EAFNOSUPPORT"] * 8, "no other kind of socket can be opened")
lines, rows = tried("""
for kind in socket.SOCK_DGRAM, socket.SOCK_RAW:
    try_(lambda: socket.socketpair(socket.AF_UNIX, kind))
for kind in socket.SOCK_STREAM, socket.SOCK_SEQPACKET:
    try_(lambda: len(socket.socketpair(socket.AF_UNIX, kind)))
""", [PLAIN])
eq(lines, ["EPERM", "EPERM", "2", "2"], "no end of a pair is one for datagrams, which could be sent to any name")
# Of the streams over IPv4 only TCP: SCTP, SMC and MPTCP are larger parts of the kernel.
lines, rows = tried("""
for protocol in 132, 256, 262, 2, 4, 0, socket.IPPROTO_TCP:
    try_(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol).close())
""", [PLAIN])
eq(lines, ["EAFNOSUPPORT"] * 3 + ["EPROTONOSUPPORT"] * 2 + ["None"] * 2, "no other protocol than TCP can be opened")
lines, rows = tried(f"""
s = socket.socket()
try_(lambda: s.bind(('0.0.0.0', 4000)))
try_(lambda: s.listen())
try_(lambda: s.sendto(b'x', 0x20000000, ('198.18.0.1', {HTTP})))
try_(lambda: s.sendmsg([b'x'], [], 0, ('198.18.0.1', {HTTP})))
try_(lambda: s.setsockopt(6, 30, 1))
try_(lambda: s.setsockopt(1, 25, b'lo'))
try_(lambda: s.connect(('255.255.255.255', {HTTP})))
try_(lambda: open('/etc/hosts', 'a'))
""", [PLAIN])
eq(lines[:6], ["EPERM"] * 4 + ["ENOPROTOOPT"] * 2, "no listening, no data with the greeting, no other options")
ok(lines[6] in ("EACCES", "ENETUNREACH") and lines[7] in ("EROFS", "EACCES"), f"nor broadcast, nor other hosts: {lines[6:]}")

# ---- limits ------------------------------------------------------------------------------------

result = run(f"""
s = socket.create_connection(('api.test', {SINK}))
try:
    while True: s.sendall(bytes(10000))
except OSError as error: print(errno.errorcode[error.errno])
""", [f"api.test:{SINK}"], up_bytes=123457)
ENDED_BY_SINK = "for i in range(2, 142): try_(lambda: talk(f'198.18.0.{i}', %d, b'x', 1))" % SINK
hidden = run(f"""
s = socket.create_connection(('api.test', {SINK}))
s.sendall(bytes(10))
{ENDED_BY_SINK}
try:
    while True: s.sendall(bytes(1000))
except OSError: pass
s = socket.create_connection(('api.test', {SINK}))
""", [f"api.test:{SINK}"], up_bytes=50000)
told = {(row["host"], row["verdict"]): row["up"] for row in hidden["connections"] if row["verdict"] != "denied"}
eq(told.get(("api.test", "limit"), 0), 50000, "connections that are denied leave room for the row of one that reaches its limit", )
eq((sum(row["verdict"] == "denied" for row in hidden["connections"]), hidden["connections_others"]), (64, 76),
   "those that have no row are counted")
shown = subprocess.run(["cectl", "show", hidden["run_id"]], capture_output=True, text=True, check=False).stdout
ok("and 76 connections of other kinds\n" in shown, "and cectl says so", shown)
hidden = run(f"""
{ENDED_BY_SINK}
s = socket.create_connection(('api.test', {SINK}))
s.sendall(bytes(1000)); s.shutdown(socket.SHUT_WR); s.recv(1)
""", [f"api.test:{SINK}"])
eq([(row["host"], row["up"]) for row in hidden["connections"] if row["verdict"] == "allowed"], [("api.test", 1000)],
   "and for that of one that is allowed after them")
# A greeting that never comes holds a place.
hidden = run(f"""
held = [socket.create_connection(('api.test', {HTTPS})) for _ in range(2)]
for i in range(140): try_(lambda: talk(f'198.18.1.{{i}}', {SINK}, b'x', 1))
for s in held: s.close()
def sent():
    s = socket.create_connection(('api.test', {SINK}))
    s.sendall(bytes(1000)); s.shutdown(socket.SHUT_WR)
    return s.recv(1)
for _ in range(100):
    try:
        sent()
        break
    except OSError:  # ced-egress has not seen the end of the others yet
        time.sleep(.1)
""", [f"api.test:{SINK}", SECURE], at_once=2)
eq([(row["host"], row["up"]) for row in hidden["connections"] if row["verdict"] == "allowed"], [("api.test", 1000)],
   "connections beyond at_once leave room for one that is allowed after them")
row = result["connections"][-1]
eq((row["verdict"], row["why"], sum(each["up"] for each in result["connections"])), ("limit", "up_bytes", 123457),
   "bytes past the cap are counted to the byte")
ok(wait_until(lambda: os.path.exists(os.path.join(FOLDER, "sunk"))), "the server saw the end")
with open(os.path.join(FOLDER, "sunk"), encoding="ascii") as file:
    eq(max(int(line) for line in file) <= 123457, True, "and no byte more")
result = run(f"""
for i in range(30):
    proxy('CONNECT ' + '.'.join(['x' * 50] * 3) + f'{{i:04}}.test:{ECHO} HTTP/1.1\\r\\n\\r\\n')
""", PATTERNS, up_bytes=1000)
eq((sum(row["count"] for row in result["connections"] if row["why"] != "up_bytes"),
    sum(row["count"] for row in result["connections"] if row["why"] == "up_bytes"),
    sum(row["up"] for row in result["connections"])), (6, 24, 6 * 161), "names below a pattern are counted as bytes that the program sends")
result = run(f"try_(lambda: len(talk('api.test', {HTTP}, b'GET /big/500000 HTTP/1.0\\r\\n\\r\\n', 1 << 20)))",
             [PLAIN], down_bytes=100000)
eq((result["stdout"].strip(), sum(row["down"] for row in result["connections"])), ("ECONNRESET", 100000),
   "and so are those that come")
result = run(f"for i in range(5): try_(lambda: talk('api.test', {ECHO}, b'x', 1))", [f"api.test:{ECHO}"], connections=3)
eq(result["stdout"].split(), ["b'x'"] * 3 + ["ECONNRESET"] * 2, "connections are counted")
eq([(row["verdict"], row["count"]) for row in result["connections"]], [("allowed", 3), ("limit", 2)], "each of them")
result = run(f"""
held = [socket.create_connection(('api.test', {ECHO})) for i in range(4)]
for s in held:
    try_(lambda: (s.sendall(b'x'), s.recv(1))[1])
""", [f"api.test:{ECHO}"], at_once=2)
eq(sorted(result["stdout"].split()), ["ECONNRESET"] * 2 + ["b'x'"] * 2, "and how many there are at once")

# ---- after its end -----------------------------------------------------------------------------

result = run(f"""
import threading
s = socket.create_connection(('api.test', {ECHO}))
s.sendall(b'x'); s.recv(1)
print(s.getsockname()[0])
""", [f"api.test:{ECHO}"])
eq((result["outcome"], result["connections"][0]["count"]), ("ok", 1), "a connection that is left open ends with the run")


def sunk():
    with open(os.path.join(FOLDER, "sunk"), encoding="ascii") as file:
        return [int(line) for line in file]


def sends(code):
    """What the row and the server say of a program that sends, closes its connection and ends at once."""
    before = len(sunk())
    done_run = run(f"s = socket.create_connection(('api.test', {SINK}))\n{code}\ns.shutdown(1)\ns.close()",
                   [f"api.test:{SINK}"], up_bytes=1 << 30)
    with open(os.path.join(FOLDER, "read"), "w", encoding="ascii"):
        ok(wait_until(lambda: len(sunk()) > before), "the server saw the end")
    os.unlink(os.path.join(FOLDER, "read"))
    return done_run["outcome"], done_run["stdout"], sum(row["up"] for row in done_run["connections"]), sum(sunk()[before:])


for size in [100] * 10 + [200000] * 6 + [3000000] * 4:
    eq(sends(f"s.sendall(bytes({size}))"), ("ok", "", size, size), "what a program sends last comes to the server")
outcome, stdout, told, came = sends("""
sent = s.send(b'still')
s.settimeout(1)
try:
    while True: sent += s.send(bytes(65536))
except TimeoutError: print(sent)
""")
eq((outcome, told), ("ok", came), "a server that takes no more holds no run up, and what was not sent is not counted")
ok(came < int(stdout), f"which is less than the program gave: {came} of {stdout}")
for ending in ("", "\ns.shutdown(1)", "\ns.close()"):
    before = len(sunk())
    session = client.call("session.open", language="python", network={"allow": [f"api.test:{SINK}"], "up_bytes": 1 << 30})["session"]
    cell = client.call("run", session=session, code=f"import socket\ns = socket.create_connection(('api.test', {SINK}))\n"
                       f"s.sendall(b'talks' + bytes(400000)){ending}")
    ok(wait_until(lambda: len(sunk()) > before), "the server saw the end")
    eq((cell["outcome"], cell["connections"][0]["up"], sunk()[before:]), ("ok", 400005, [400005]),
       f"what a cell sends last comes to a slow server that answers, with `{ending.strip()}`")
    client.call("session.close", session=session)
session = client.call("session.open", language="python", network={"allow": PATTERNS})["session"]
cell = client.call("run", session=session, code="import socket, time\ns = socket.create_connection(('127.0.0.1', 3128))\n"
                   "s.sendall(b'CONNECT api.te')\ntime.sleep(0.2)")
eq([(row["verdict"], row.get("why")) for row in cell["connections"]], [("failed", None)],
   "a connection whose cell ends before its request is whole is not told as denied")
client.call("session.close", session=session)
result = run(f"try_(lambda: talk('api.test', {HTTP}))\nprint(open('/etc/hosts').read().count('api'))", [f"nobody.test:{HTTP}"])
eq(result["stdout"].split()[-1], "0", "the next run knows nothing of the names of the last")


def egress():
    return [pid for pid in children(SPAWNER) if "ced-egress" in command(pid)]


eq(len(egress()), 1, "there is one process that reaches the network")
with open(f"/proc/{egress()[0]}/status", encoding="ascii") as file:
    status = dict(line.split(":\t", 1) for line in file if ":\t" in line)
eq((status["CapEff"].strip(), status["NoNewPrivs"].strip(), status["Seccomp"].strip()), ("0" * 16, "1", "2"),
   "it has no capability and a filter")
ok(os.readlink(f"/proc/{egress()[0]}/ns/net") == os.readlink("/proc/self/ns/net")
   and os.readlink(f"/proc/{egress()[0]}/ns/mnt") != os.readlink("/proc/self/ns/mnt"), "and only the network of the host")
ok(not any("socket:" not in link and "anon_inode" not in link and "/dev/null" not in link and "pipe:" not in link
           for link in (os.readlink(f"/proc/{egress()[0]}/fd/{fd}") for fd in os.listdir(f"/proc/{egress()[0]}/fd"))
           if "log" not in link), "and no file")

held = len(os.listdir(f"/proc/{egress()[0]}/fd"))

# ---- one run floods while another works ---------------------------------------------------------

other = Client()
waiting = other.send("run", language="python", limits={"wall_ms": 60000, "cpu_ms": 60000},
                     network={"allow": [f"api.test:{ECHO}"], "connections": 4096, "at_once": 64},
                     code=HEAD + f"""
for i in range(3000):
    try:
        socket.create_connection(('api.test', {ECHO}))
    except OSError:
        pass
""")
result = run(f"for i in range(20): try_(lambda: talk('api.test', {ECHO}, b'x', 1))", [f"api.test:{ECHO}"])
eq(result["stdout"].split(), ["b'x'"] * 20, "a run that floods does not stop another")
error, flood = other.receive(waiting)
eq(error, None, "and ends")
eq(sum(row["count"] for row in flood["connections"]) + flood.get("connections_others", 0), 3000, "with all of it told")

ok(wait_until(lambda: len(os.listdir(f"/proc/{egress()[0]}/fd")) == held), "no descriptor of them is left")

# ---- ced-egress killed and stopped --------------------------------------------------------------

victim = egress()[0]
waiting = other.send("run", language="python", limits={"wall_ms": 60000}, stream=True, announce=True,
                     network={"allow": [f"api.test:{ECHO}", *PATTERNS]}, code=HEAD + f"""
s = socket.create_connection(('api.test', {ECHO}))
s.sendall(b'x'); s.recv(1)
print('connected', flush=True)
try_(lambda: s.recv(1))
try_(lambda: socket.create_connection(('api.test', {ECHO}), timeout=5).recv(1))
""")


def has_connected():
    other.send("hello")
    try:
        other.receive(other.msgid)
    except EOFError:
        return False
    return any("connected" in str(notice) for notice in other.notices)


ok(wait_until(has_connected), "a run has a connection")
os.kill(victim, signal.SIGKILL)
error, result = other.receive(waiting)
ok(result["outcome"] == "ok" and result["stdout"].split()[1] in ("ECONNRESET", "b''"),
   f"ced-egress was killed: the run goes on, without its connection: {result['stdout']!r}")
ok(result.get("connections_lost"), "and the result says that something may be missing")
ok(wait_until(lambda: client.call("admin.status")["egress"]["ready"] and egress() and egress() != [victim]),
   "another is started")
lines, rows = tried(f"try_(lambda: talk('api.test', {ECHO}, b'x', 1))", [f"api.test:{ECHO}"])
eq(lines, ["b'x'"], "and serves")
busy = egress()[0]
os.kill(busy, signal.SIGSTOP)
try:
    before = len(sunk())
    waiting = other.send("run", language="python", code=HEAD + f"socket.create_connection(('api.test', {SINK})).sendall(bytes(100))",
                         network={"allow": [f"api.test:{SINK}"]}, limits={"wall_ms": 60000})
    time.sleep(0.5)  # the program is over now, or else this shows nothing
finally:
    os.kill(busy, signal.SIGCONT)
error, result = other.receive(waiting)
eq((result["outcome"], [row["up"] for row in result["connections"]], wait_until(lambda: sunk()[before:] == [100])), ("ok", [100], True),
   "a program that is over before ced-egress has time for it is served, and recorded")
victim = egress()[0]
os.kill(victim, signal.SIGSTOP)
result = run(f"socket.setdefaulttimeout(1)\ntry_(lambda: socket.create_connection(('api.test', {ECHO})).recv(1))\nprint('on')",
             [f"api.test:{ECHO}"])
ok(result["stdout"].split()[-1] == "on" and result.get("connections_lost"), "a process that was stopped holds no run up")
ok(wait_until(lambda: client.call("admin.status")["egress"]["ready"] and egress() not in ([], [victim])), "it is replaced")
lines, rows = tried(f"try_(lambda: talk('api.test', {ECHO}, b'x', 1))", [f"api.test:{ECHO}"])
eq(lines, ["b'x'"], "and the next one serves")

# ---- none can be started ------------------------------------------------------------------------

ced = daemon_pid(SPAWNER)
first = os.readlink(f"/proc/{ced}/fd/0")
os.kill(SPAWNER, signal.SIGSTOP)
try:
    os.kill(egress()[0], signal.SIGKILL)
    ok(wait_until(lambda: not client.call("admin.status")["egress"]["ready"]), "while none can be started")
    result = run(f"try_(lambda: talk('api.test', {ECHO}, b'x', 1))", [f"api.test:{ECHO}"])
    ok(result["outcome"] != "ok" and "network" in str(result.get("reason")), f"a run is told so: {result.get('reason')}")
    eq(os.readlink(f"/proc/{ced}/fd/0"), first, "and ced keeps its own descriptors")
finally:
    os.kill(SPAWNER, signal.SIGCONT)
ok(wait_until(lambda: client.call("admin.status")["egress"]["ready"]), "then one is started")
lines, rows = tried(f"try_(lambda: talk('api.test', {ECHO}, b'x', 1))", [f"api.test:{ECHO}"])
eq(lines, ["b'x'"], "and serves")
done()
