"""Puts secrets into every field of a request and into everything that a program can leave behind.  Then
searches everything that the daemon has written for them, in each form that could hide them.

    601-redaction.py plant STATE     runs programs, and prints the id of a run that is still in progress
    601-redaction.py search STATE LOG
"""

import base64
import binascii
import ctypes
import json
import os
import sqlite3
import sys
import time

from wire import Client, done, eq, ok, wait_until

NAMED = 'pl4nted "quote" \\back s\u00e5sh 77/31'  # characters that every encoding changes
PLAIN = "pl4ntedPlainS3cret"  # for names and paths
LONG = "".join(chr(33 + i * 7919 % 90) for i in range(900)).replace("\\", "/")
SECRETS = [NAMED, PLAIN, LONG]
# Secrets that only patterns know; no caller names them.
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join("MIIEowIBAAKCAQEAabcdefghijkl%04d" % i for i in range(30)) + "\n-----END RSA PRIVATE KEY-----"
PASSWORD = "hunt3rRabb1t"
URL = f"postgres://ann:{PASSWORD}@db.example/x"


def everything():
    """A request with a secret in every field that can hold one."""
    code = "\n".join([
        "import json, os, sys",
        f"secret = {json.dumps(NAMED)}",
        f"token, url = {TOKEN!r}, {URL!r}",
        f"key = {KEY!r}",
        f"eval({json.dumps('1 #' + PLAIN)})",
        f"long = {LONG!r}",
        "print(json.dumps({secret: [secret, token, url, key, long]}))",
        "print(secret, token, url, key, long, file=sys.stderr)",
        f"open({('art-' + PLAIN + '.txt')!r}, 'w').write(secret + token + key + long)",
        "open('noise.bin', 'wb').write(os.urandom(20) + secret.encode() + b'\\xff' + token.encode())",
    ])
    return {
        "code": code,
        "entrypoint": PLAIN + ".py",
        "args": [NAMED, TOKEN, URL],
        "stdin": KEY + NAMED,
        "files": [{"path": f"d-{PLAIN}/f.txt", "data": NAMED + LONG}, {"path": "k.bin", "data": b"\xff" + KEY.encode()}],
        "env": {"A_" + PLAIN: NAMED, "DB": URL},
        "artifacts": ["*" + PLAIN + "*", "*"],
        "schema": {"title": NAMED, "type": "object", "additionalProperties": {"const": TOKEN}},
        "task": "task " + PLAIN,
        "agent": "agent " + PLAIN,
        "labels": {"label " + PLAIN: PLAIN},
        "secrets": SECRETS,
    }


def ended(outcome, told, **params):
    result = CLIENT.run(params.pop("code"), **params)
    eq(result["outcome"], outcome, told)
    return result


def refused(told, **params):
    error, _ = CLIENT.receive(CLIENT.send("run", **params))
    ok(error, told)


def plant():
    result = ended("output_invalid", "a secret in every field", **everything(), id="id " + PLAIN)
    ok(NAMED in json.loads(result["stdout"]), "the caller gets what was written")
    ok(result["masks"] > 20, f"{result['masks']} masks")
    simple = {"secrets": SECRETS}
    ended("ok", "input", code="pass", input={NAMED: [TOKEN, PLAIN, {"k": URL}]}, **simple)
    ended("exception", "an exception", code=f"x = {NAMED!r}\nraise ValueError(x + {TOKEN!r})", **simple)
    ended("syntax_error", "a syntax error", code=f"x = {NAMED!r} {TOKEN!r} y y", **simple)
    ended("exit", "sys.exit of a text", code=f"import sys; sys.exit({NAMED!r})", **simple)
    ended("policy_denied", "a finding", code=f"__import__({PLAIN!r}); eval({json.dumps(TOKEN)})", policy="strict", **simple)
    ended("output_invalid", "no JSON", code=f"print({PLAIN!r})", output="json", **simple)
    for cut in range(2):  # wherever the output is cut, the cut is inside a secret
        for secret in PLAIN, TOKEN, KEY, URL:
            for at in range(2, min(len(secret), 44), 3):
                text = " " * (200 - at) + secret
                limits = {"stdout_bytes": 200 if cut == 0 else 400}
                mode = {} if cut == 0 else {"on_output_limit": "truncate"}
                CLIENT.run(f"print({text!r} + {' ' * 5000 + secret + ' ' * (200 - at)!r}, end='')", limits=limits, **mode, **simple)
    text = LONG * 400 + TOKEN
    ended("ok", "much of it, on a thread", code=f"import sys; print(sys.stdin.read())", stdin=text, **simple)
    refused("no such runtime", language="no-" + PLAIN.lower(), code=NAMED, secrets=SECRETS + [PLAIN.lower()])
    refused("no such policy", language="python", code=NAMED, policy=PLAIN, **simple)
    refused("a key that is not known", language="python", code=NAMED + TOKEN, **simple, **{PLAIN: NAMED})
    refused("a misspelt key", language="python", code=NAMED + LONG, secret=SECRETS)
    refused("secrets that are no list", language="python", code=NAMED, secrets=NAMED)
    refused("secrets that cannot be masked", language="python", code=NAMED + LONG, secrets=[{"a": [1, NAMED]}])
    refused("a path that climbs", language="python", code=NAMED, files=[{"path": "../" + PLAIN, "data": NAMED}], **simple)
    # A program that joins a secret from parts: a replay of the record learns the secret only from its caller.
    made = ended("ok", "a secret made of parts", code="print(''.join(['pl4', 'nte', 'dPl', 'ain', 'S3c', 'ret']))", **simple)
    eq(made["stdout"], PLAIN + "\n", "which its caller gets")
    error, _ = CLIENT.receive(CLIENT.send("runs.replay", run_id=made["run_id"]))
    eq(error and error["code"], "conflict", "is not run again without it")
    error, _ = CLIENT.receive(CLIENT.send("runs.replay", run_id=made["run_id"], secrets=[PLAIN]))
    eq(error and error["code"], "conflict", "nor with fewer secrets than then")
    ok(CLIENT.call("runs.replay", run_id=made["run_id"], secrets=SECRETS)["same"], "with them it comes out the same")
    CLIENT.receive(CLIENT.send("admin.drain", reason="see " + TOKEN))
    CLIENT.receive(CLIENT.send("admin.resume", reason="see " + URL))
    time.sleep(1.5)
    running = CLIENT.run("import time; time.sleep(50)", stdin=NAMED + TOKEN, detach=True, args=[PLAIN],
                         limits={"wall_ms": 60000, "cpu_ms": 60000}, **simple)
    ok(wait_until(lambda: CLIENT.call("runs.get", run_id=running["run_id"])["state"] == "running"), "one runs when the daemon is killed")
    print("# running", running["run_id"])


def forms(secret):
    raw = secret.encode()
    yield "as it is", raw
    yield "JSON", json.dumps(secret, ensure_ascii=False)[1:-1].encode()
    yield "JSON in ASCII", json.dumps(secret)[1:-1].encode()
    yield "hexadecimal", binascii.hexlify(raw)
    for before in range(3):
        text = base64.b64encode(b"x" * before + raw)
        yield f"base64 behind {before}", text[(before * 8 + 5) // 6: (before + len(raw)) * 8 // 6]


def needles():
    for name, secret in ("named", NAMED), ("plain", PLAIN), ("token", TOKEN), ("password", PASSWORD), ("a line of the key", KEY.split("\n")[7]), ("a part of the long one", LONG[300:400]):
        for form, text in forms(secret):
            yield f"{name}, {form}", text
    # The remainder of a secret where a stream was cut.
    yield "the beginning of the plain one", PLAIN[:6].encode()
    yield "the end of the plain one", PLAIN[-7:].encode()
    yield "the beginning of the token", TOKEN[:9].encode()
    yield "the end of the token", TOKEN[-9:].encode()
    yield "the beginning of the password", b":" + PASSWORD[:5].encode()


def contents(folder):
    """Every file, and the decompressed contents of the store."""
    for path, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                yield name, file.read()
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    store = sqlite3.connect(f"file:{folder}/ced.db?mode=ro", uri=True)
    for blob, codec, data in store.execute("SELECT blob, codec, data FROM blob_data"):
        if codec == 0:
            yield f"blob {blob}", data
            continue
        room = ctypes.create_string_buffer(zstd.ZSTD_getFrameContentSize(data, len(data)))
        size = zstd.ZSTD_decompress(room, len(room), data, len(data))
        yield f"blob {blob}, decompressed", room.raw[:size]
    # Row by row too: a text may be split over pages of the file.
    for (table,) in store.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'").fetchall():
        for row in store.execute(f'SELECT * FROM "{table}"'):
            for value in row:
                if isinstance(value, (str, bytes)):
                    yield f"table {table}", value.encode() if isinstance(value, str) else value


def search(state, log):
    found = set()
    pieces = list(contents(state))
    with open(log, "rb") as file:
        pieces.append(("the log", file.read()))
    for told, needle in needles():
        for where, piece in pieces:
            if needle in piece:
                at = piece.index(needle)
                found.add(f"{told}: in {where}: {piece[max(at - 40, 0):at + 60]!r}")
    ok(not found, f"nothing of it in {len(pieces)} places", "\n".join(line[:160] for line in sorted(found)[:20]))
    masks = sum(piece.count(b"[masked:") for _, piece in pieces)
    ok(masks > 100, f"but {masks} masks")
    client = Client()
    lost = client.call("runs.list", outcome="lost")["runs"]
    eq(len(lost), 1, "the run that was lost with the daemon is there")
    record = client.call("runs.get", run_id=lost[0]["run_id"])
    ok(record["request"]["masks"] == 2, "with its masks counted", record["request"])
    told = client.call("policies.list")["policies"]
    eq(record["policy"]["digest"], {policy["name"]: policy["digest"] for policy in told}[record["policy"]["name"]],
       "and the digest of the policy that let it begin")


if sys.argv[1] == "plant":
    CLIENT = Client()
    plant()
else:
    search(sys.argv[2], sys.argv[3])
done()
