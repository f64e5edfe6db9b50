"""cectl web without a browser: what it answers, to whom, and what it does about attacks."""

import atexit
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time

from web import Web, events, next_event, parts_of, read_all
from wire import Client, descriptors, done, eq, ok, wait_until

work = sys.argv[1]
client = Client()
result = client.run("print('hello ' * 3)", agent="ann")
web = Web()

# ---- what it gives ------------------------------------------------------------------------------

status, head, body = web.get("/")
eq((status, b"<!doctype html>" in body), (200, True), "the page is there without a token, since it says nothing")
for name, kind in (("/app.js", "text/javascript"), ("/style.css", "text/css"), ("/icon.svg", "image/svg+xml")):
    status, head, _ = web.get(name)
    eq((status, f"Content-Type: {kind}" in head), (200, True), f"{name} has its type")
pages = {path: web.get(path) for path in ("/", "/app.js", "/nothing", "/api/runs.list", "/api/nothing")}
WANTED = ("Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;",
          "frame-ancestors 'none'", "require-trusted-types-for 'script'", "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
          "Cross-Origin-Opener-Policy: same-origin", "Cross-Origin-Resource-Policy: same-origin", "Cache-Control: no-store")
eq([path for path, (_, head, _) in pages.items() if not all(line in head for line in WANTED)], [], "every answer has the headers that close a browser")
eq([path for path, (_, head, _) in pages.items() if "set-cookie" in head.lower() or "access-control" in head.lower()], [],
   "no answer sets a cookie or lets another origin read")

status, found = web.ask("runs.list", limit=5)
eq((status, found["runs"][0]["run_id"]), (200, result["run_id"]), "a question with the token is answered")
status, found = web.ask("runs.get", run_id=result["run_id"])
eq(found["stdout"], "hello hello hello \n", "as the daemon answers it")
eq(web.ask("runs.get", run_id="0" * 26)[0], 404, "what is not there is a 404")
status, found = web.ask("runs.list", limit=0)
eq((status, found["error"]["code"], found["error"]["data"]["pointer"]), (400, "bad_request", "/limit"), "the daemon's refusal comes with its pointer")
eq(web.ask("runs.list", odd=1)[0], 400, "an unknown key is refused")
for method in ("stats", "health", "runtimes", "hello", "admin.status", "approvals.list"):
    eq(web.ask(method)[0], 200, f"{method} is answered")

METHODS = ("run", "check", "cancel", "session.open", "blob.put", "runs.replay", "approvals.approve", "approvals.deny", "approvals.revoke",
           "admin.drain", "admin.kill_all", "admin.gc", "admin.reload", "admin.block", "audit.checkpoint", "events.subscribe", "policies.test")
eq([method for method in METHODS if web.ask(method)[0] != 404], [], "no method that starts or changes something is reached")
ok(not client.call("admin.status")["drained"], "and nothing was done")

# ---- who may ask --------------------------------------------------------------------------------

QUESTION = "/api/runs.list"
eq(web.get(QUESTION)[0], 401, "no token")
for name, token in (("short", web.token[:-1]), ("long", web.token + "0"), ("other", "0" * 64), ("of capitals", web.token.upper()), ("empty", " ")):
    if token != web.token:
        eq(web.get(QUESTION, token)[0], 401, f"a token that is {name}")
eq(web.get(f"{QUESTION}?token={web.token}")[0], 401, "a token in the query counts as none")
eq(web.get(QUESTION, Cookie=f"token={web.token}")[0], 401, "nor one in a cookie")
eq(web.get("/api/events")[0], 401, "no stream without a token")
ok(web.token not in "".join(head + body.decode() for _, head, body in pages.values()), "no answer holds the token")

port = web.host.rpartition(":")[2]
for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1", f"localhost.:{port}", f"127.1:{port}", f"0.0.0.0:{port}", f"[::1]:{port}",
             f"127.0.0.1:{port}.evil.example", f"x@127.0.0.1:{port}", f"LOCALHOST:{port}"):
    eq([web.get(path, web.token, host)[0] for path in ("/", QUESTION)], [403, 403], f"host {host}, as after a rebinding of names")
eq(web.get(QUESTION, web.token, f"localhost:{port}")[0], 200, "localhost with the port is served")
for origin in ("http://evil.example", "null", f"https://{web.host}", f"http://localhost:{port}", "http://127.0.0.1:1", f"http://{web.host}.evil.example"):
    eq(web.get(QUESTION, web.token, Origin=origin)[0], 403, f"a page of {origin}")
for site in ("cross-site", "same-site", "odd"):
    eq([web.get(path, web.token, Sec_Fetch_Site=site)[0] for path in ("/", QUESTION)], [403, 403], f"a page that is {site}")
eq(web.get(QUESTION, web.token, Origin=f"http://{web.host}", Sec_Fetch_Site="same-origin")[0], 200, "the page itself")
eq(web.get("/", Sec_Fetch_Site="none")[0], 200, "an address that a person typed")

# ---- requests that are none ---------------------------------------------------------------------

H = f"Host: {web.host}\r\n"
T = f"{H}Authorization: Bearer {web.token}\r\n"
for name, text, hoped in (
    ("POST", f"POST {QUESTION} HTTP/1.1\r\n{T}Content-Length: 2\r\n\r\n{{}}", 405),
    ("HEAD", f"HEAD / HTTP/1.1\r\n{H}\r\n", 405), ("OPTIONS", f"OPTIONS {QUESTION} HTTP/1.1\r\n{H}\r\n", 405),
    ("CONNECT", f"CONNECT /x HTTP/1.1\r\n{H}\r\n", 405), ("get in small letters", f"get / HTTP/1.1\r\n{H}\r\n", 405),
    ("a GET with a body", f"GET / HTTP/1.1\r\n{H}Content-Length: 1\r\n\r\nx", 400),
    ("a coded body", f"GET / HTTP/1.1\r\n{H}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("no host", "GET / HTTP/1.1\r\n\r\n", 400), ("two hosts", f"GET / HTTP/1.1\r\n{H}{H}\r\n", 400),
    ("two tokens", f"GET {QUESTION} HTTP/1.1\r\n{T}Authorization: Bearer x\r\n\r\n", 400),
    ("HTTP/1.0", f"GET / HTTP/1.0\r\n{H}\r\n", 400), ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    ("a folded line", f"GET / HTTP/1.1\r\n{H}X: a\r\n b\r\n\r\n", 400), ("a space before the colon", f"GET / HTTP/1.1\r\n{H}X : a\r\n\r\n", 400),
    ("an absolute target", f"GET http://{web.host}/ HTTP/1.1\r\n{H}\r\n", 400), ("nonsense", "\x16\x03\x01 nonsense\r\n\r\n", 400),
    ("a control character", f"GET / HTTP/1.1\r\n{H}X: \x01\r\n\r\n", 400),
    ("a long head", f"GET / HTTP/1.1\r\n{H}X: {'a' * 9000}\r\n\r\n", 431), ("a long path", f"GET /{'a' * 9000} HTTP/1.1\r\n{H}\r\n", 431),
    ("many headers", f"GET / HTTP/1.1\r\n{H}{'X: y' * 1}\r\n" + "X: y\r\n" * 100 + "\r\n", 431),
):
    eq(web.send(text.encode())[0], hoped, name)
for path in ("/../etc/passwd", "/..%2f..%2fetc%2fpasswd", "//etc/passwd", "/./", "/index.html/", "/%2e%2e/", "/api", "/api/", "/api//runs.list", "/api/../", "/style.css%00",
             "/app.js/..", "/APP.JS", "/.git/config"):
    eq(web.get(path, web.token)[0], 404, f"{path} is nothing")
eq(web.send(f"GET /index.html?x HTTP/1.1\r\n{H}\r\n".encode())[0], 200, "a query changes no file")
for query in ("params=%7B", "params=[]", "params=%zz", "params=%7B%7D&params=%7B%7D", "x"):
    eq(web.get(f"{QUESTION}?{query}", web.token)[0], 400, f"{query} is no query")
both = web.send(f"GET / HTTP/1.1\r\n{H}\r\nGET {QUESTION} HTTP/1.1\r\n{T}\r\n".encode())
eq((both[0], both[2].count(b"HTTP/1.1")), (200, 0), "a second request behind the first is not answered")

# ---- slow ones and many -------------------------------------------------------------------------

slow = web.connect()
slow.sendall(b"GET / HT")
idle = web.connect()
began = time.monotonic()
eq(parts_of(read_all(slow))[0], 408, "a head that does not come is given up")
eq(read_all(idle), b"", "and so is a connection that says nothing")
ok(time.monotonic() - began >= 4, "not at once")

dripping = web.connect()
dripped = 0
try:
    while dripped < 600:
        dripping.sendall(b"G" if dripped == 0 else b"E")
        dripped += 1
        time.sleep(0.1)
except OSError:
    pass
ok(dripped < 600, "drops of a head do not keep it open")

crowd = [web.connect() for _ in range(200)]
eq(web.get("/")[0], 200, "200 connections that say nothing keep nobody out")
ok(wait_until(lambda: descriptors(web.process.pid) is None or descriptors(web.process.pid) < 80), "and hold few places")
for one in crowd:
    one.close()

streams = [web.stream() for _ in range(8)]
heard = [events(one) for one in streams]
eq([next_event(one, kind="daemon")["state"] for one in heard], ["all"] * 8, "eight streams hear that events come")
eq(web.ask("events")[0], 503, "a ninth is refused")
eq(client.call("admin.status")["subscriptions"], 1, "together they are one subscription")
run_id = client.run("print(1)", task="t1")["run_id"]
eq([[next_event(one, kind=kind, run_id=run_id)["task"] for kind in ("started", "finished")] for one in heard], [["t1", "t1"]] * 8, "all hear of a run")
for one in streams[1:]:
    one.close()
ok(wait_until(lambda: web.get("/api/events", "x")[0] == 401 and web.ask("health")[0] == 200), "closed streams give their places back")

# A reader that does not read: it misses events, costs little, and others hear all.
deaf = web.connect()
deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 18)
deaf.sendall(f"GET /api/events HTTP/1.1\r\n{T}\r\n".encode())
heard_late = events(deaf)
eq(next_event(heard_late, kind="daemon")["state"], "all", "one more stream begins, and is not read")
sent = 8000
for _ in range(sent // 100):
    asked = [client.send("run", language="python", code="x", limitz={}, agent="a" * 128, task="b" * 128) for _ in range(100)]
    for msgid in asked:
        client.receive(msgid)
client.run("print(2)")


def counted(stream, most):
    """(heard, missed) of a stream, up to so many events."""
    heard_of = missed = 0
    for event in stream:
        missed += event["count"] if event["kind"] == "missed" else 0
        heard_of += event["kind"] in ("denied", "started", "finished")
        if heard_of + missed >= most:
            break
    return heard_of, missed


eq(sum(counted(heard[0], sent + 2)), sent + 2, "one that reads late knows of each event")
heard_of, missed = counted(heard_late, sent + 2)
eq(heard_of + missed, sent + 2, "so does one that was deaf")
ok(missed > 0, f"which missed {missed} of them")
deaf.close()

# ---- the daemon ends, and comes back ------------------------------------------------------------

print("daemon stop", flush=True, file=sys.stderr)
eq(next_event(heard[0], kind="daemon")["state"], "gone", "a stream hears that the daemon has gone")
eq(web.ask("runs.list")[0], 503, "a question without a daemon is a 503")
print("daemon start", flush=True, file=sys.stderr)
eq(next_event(heard[0], kind="daemon")["state"], "all", "and that it is back")
eq(web.ask("runs.list")[0], 200, "then questions are answered again")
streams[0].close()
client = Client()
ok(wait_until(lambda: client.call("admin.status")["subscriptions"] == 0), "when nobody looks, nobody watches")
web.process.send_signal(signal.SIGINT)
eq(web.process.wait(60), -signal.SIGINT, "^C ends it")

# ---- where it listens ---------------------------------------------------------------------------

path = os.path.join(work, "web.sock")
unix = Web("--listen", f"unix:{path}")
eq(stat.S_IMODE(os.stat(path).st_mode), 0o600, "a socket file is for its user only")
eq(unix.ask("health")[0], 200, "and is served")
eq([unix.get("/", host=host)[0] for host in ("localhost:9000", "127.0.0.1:80", "[::1]", "evil.example", "evil.example:80")], [200, 200, 200, 403, 403],
   "with loopback names of any port, for ports that are forwarded")
again = subprocess.run(["cectl", "web", "--listen", f"unix:{path}"], capture_output=True, text=True)
eq((again.returncode, "is there already" in again.stderr), (1, True), "a second one does not take it away")
unix.process.kill()
unix.process.wait()
ok(os.path.exists(path), "one that is killed leaves it behind")
unix = Web("--listen", f"unix:{path}")
eq(unix.ask("health")[0], 200, "and the next one takes it over")
unix.end()
ok(not os.path.exists(path), "at the end it is gone")
file = os.path.join(work, "file")
with open(file, "w") as kept:
    kept.write("mine")
eq(subprocess.run(["cectl", "web", "--listen", f"unix:{file}"], capture_output=True).returncode, 1, "a file that is no socket is refused")
with open(file) as kept:
    eq(kept.read(), "mine", "and stays as it is")
for where, hint in (("0.0.0.0:0", "is no loopback address"), ("192.168.1.1:80", "ssh -L"), ("[::]:0", "is no loopback address"), ("example.org:80", "is no loopback address"),
                    ("8417", "neither ADDRESS:PORT"), ("127.0.0.1:99999", "neither ADDRESS:PORT"), ("127.0.0.1:", "neither ADDRESS:PORT"), ("unix:", "path has 1 to"), ("unix:" + "x" * 200, "path has 1 to")):
    said = subprocess.run(["cectl", "web", "--listen", where], capture_output=True, text=True)
    eq((said.returncode, hint in said.stderr), (2, True), f"--listen {where[:30]}: {hint}")
fixed = Web("--listen", "localhost:0")
taken = subprocess.run(["cectl", "web", "--listen", fixed.host], capture_output=True, text=True)
eq((taken.returncode, "name another port" in taken.stderr), (1, True), "a port that is taken is named")
fixed.end()
if os.path.exists("/proc/net/if_inet6"):
    six = Web("--listen", "[::1]:0")
    eq((six.ask("health")[0], six.get("/", host="127.0.0.1:" + six.host.rpartition(":")[2])[0]), (200, 403), "IPv6 is served under its own name")
    six.end()

# ---- another user -------------------------------------------------------------------------------

if os.getuid() == 0:
    os.chmod(os.path.dirname(os.environ["CED_SOCKET"]), 0o777)
    os.chmod(os.environ["CED_SOCKET"], 0o666)
    other = subprocess.Popen(["cectl", "web", "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, user=4001, group=4001, extra_groups=[])
    theirs = Web.__new__(Web)
    atexit.register(other.kill)
    said = json.loads(other.stdout.readline())
    theirs.process, theirs.path, theirs.token, theirs.host = other, None, said["token"], said["address"].removeprefix("http://").rstrip("/")
    status, found = theirs.ask("runs.list")
    eq((status, found["runs"]), (200, []), "a user sees what the daemon shows this user")
    eq(theirs.ask("runs.get", run_id=result["run_id"])[0], 404, "and no run of another")
    eq(theirs.ask("admin.status")[0], 403, "nor the daemon's state")
    eq(next_event(events(theirs.stream()), kind="daemon")["state"], "own", "and hears of their own runs")
    theirs.end()
done()
