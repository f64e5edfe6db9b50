"""Messages that a client could send, good and bad, from a seeded generator: for tests/fuzz/daemon.py.

A message is bytes.  Params follow the schemas in proto/method/schemas/, so a new method or key there needs no
change here.
"""

import json
import pathlib
import re
import struct

import msgpack

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
CEILING = 1 << 20  # message_bytes of the daemon under test

# Sizes at which the daemon's handling changes: heads of msgpack, its reads, threads, its ceilings.
THRESHOLDS = (1, 15, 31, 127, 255, 4096, 8192, 65535, 65536, 131072, 262144, 524288, CEILING, 2 * CEILING)

PROGRAMS = (
    "print(1)",
    "print('x' * 300000)",
    "import time\nprint('begun', flush=True)\ntime.sleep(0.3)",
    "import sys\nsys.stdout.write(sys.stdin.read())",
    "raise SystemExit(3)",
    "1 / 0",
    "def (",
    "import os\nos.kill(os.getpid(), 11)",
    "open('out.bin', 'wb').write(b'\\xff' * 70000)",
    "print('{\"a\": [1, 2.5, null]}')",
)

WORDS = ("", "a", "python", "bash", "javascript", "standard", "strict", "review", "last", "last~1", "stdout", "code",
         "sha256:" + "0" * 64, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "artifact:out.bin", "SIGTERM", "out.bin", "../x", "a/b",
         "\0", "\u202e", "\ud7ff\U0010ffff", "é" * 40, "x" * 300)

NUMBERS = (0, 1, -1, 10, 127, 128, 255, 256, 1000, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**63 - 1,
           2**63, 2**64 - 1, -(2**31), -(2**63))

FOR_PATTERNS = {
    "^sha256:": ("sha256:" + "0" * 64,),
    "^([0-9A-Za-z]{1,26}": ("last", "last~2", "0", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    "^[a-z0-9-]{1,32}$": ("python", "python", "python", "bash", "javascript", "cobol"),
    "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$": ("standard", "standard", "open", "strict", "review", "none-such"),
    "^[0-7]": ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "00000000000000000000000000"),
    "^(stdout": ("stdout", "stderr", "code", "stdin", "stdout_tail", "artifact:out.bin", "file:a"),
}


def methods():
    """Every method with the schema of its params, as proto/method/method_table.h has them."""
    rows = re.findall(r'X\(\w+, +"([\w.]+)", +\w+, +"([\w.]+)"', (SOURCE / "proto/method/method_table.h").read_text())
    return [(name, json.loads((SOURCE / "proto/method/schemas" / file).read_text())) for name, file in rows]


METHODS = methods()
assert len(METHODS) > 30, "proto/method/method_table.h has fewer methods than expected"


class Messages:
    """Makes messages from one random.Random."""

    def __init__(self, random):
        self.random = random
        self.msgid = 0
        self.names = [f"id-{random.randrange(10**6)}" for _ in range(3)]

    # ---- values ------------------------------------------------------------------------------

    def size(self):
        """A length around a threshold, small ones more often."""
        near = self.random.choice(THRESHOLDS[: self.random.randint(3, len(THRESHOLDS))])
        return max(0, near + self.random.choice((-12, -6, -5, -2, -1, 0, 1, 2, 5, 12, 300)))

    def filler(self, length):
        """Text, bytes or a list of about so many bytes."""
        kind = self.random.randrange(5)
        if kind == 0:
            return b"\xff" * length
        if kind == 1:
            return [self.random.choice((0, None, True, ""))] * length
        if kind == 2:
            return {str(n): n for n in range(length // 8)}
        return "a" * length

    def junk(self, depth=0):
        """A value of any kind."""
        random = self.random
        kind = random.randrange(11)
        if kind < 3:
            return random.choice(NUMBERS)
        if kind < 6:
            return random.choice(WORDS)
        if kind == 6:
            return random.choice((None, True, False))
        if kind == 7:
            return random.choice((0.5, -0.0, 1e308, float("nan"), float("inf"), msgpack.ExtType(1, b"x"), b"\xff\0"))
        if kind == 8 and depth < 4:
            return [self.junk(depth + 1) for _ in range(random.randrange(4))]
        if kind == 9 and depth < 4:
            return {random.choice(WORDS): self.junk(depth + 1) for _ in range(random.randrange(4))}
        return self.filler(self.size()) if random.random() < 0.05 else "a"

    # ---- params of a schema's shape ------------------------------------------------------------

    def text_for(self, schema):
        for beginning, words in FOR_PATTERNS.items():
            if schema.get("pattern", "").startswith(beginning):
                return self.random.choice(words)
        return self.random.choice(("a", "task", "b c", "x" * schema.get("maxLength", 10)))

    def number_for(self, schema):
        low, high = schema.get("minimum", 0), schema.get("maximum", 2**31)
        return self.random.choice((low, low, low + 1, min(high, low + 1000), high))

    def list_for(self, schema):
        count = self.random.choice((schema.get("minItems", 0), 1, 2))
        return [self.shaped(schema.get("items", True)) for _ in range(count)]

    def map_for(self, schema):
        required, params = schema.get("required", ()), {}
        for key, below in schema.get("properties", {}).items():
            if key in required or self.random.random() < 0.2:
                params[key] = self.shaped(below)
        more = schema.get("additionalProperties")
        if isinstance(more, dict) and self.random.random() < 0.5:
            params[self.random.choice(("A", "b", "C_1"))] = self.shaped(more)
        return params

    def shaped(self, schema):
        """A value that the schema usually accepts."""
        if schema is True:
            return self.junk()
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        kind = schema.get("type")
        kind = self.random.choice(kind) if isinstance(kind, list) else kind
        makers = {"object": self.map_for, "array": self.list_for, "integer": self.number_for, "string": self.text_for}
        if kind in makers:
            return makers[kind](schema)
        return {"boolean": self.random.random() < 0.5, "bytes": b"\0\xff"}.get(kind)

    def mutated(self, value):
        """The same with an error somewhere."""
        random = self.random
        if isinstance(value, dict) and value and random.random() < 0.8:
            key = random.choice(list(value))
            if random.random() < 0.15:
                return {other: kept for other, kept in value.items() if other != key}
            return {**value, key: self.mutated(value[key])}
        if isinstance(value, list) and value and random.random() < 0.7:
            return [self.mutated(value[0])] + value[1:]
        return {**value, "odd": 1} if isinstance(value, dict) and random.random() < 0.3 else self.junk()

    def run_params(self):
        random = self.random
        params = {"language": "python", "code": random.choice(PROGRAMS), "limits": {"wall_ms": 2000}}
        extras = {"stream": True, "announce": True, "detach": True, "id": random.choice(self.names), "stdin": "in",
                  "task": f"t{random.randrange(9)}", "cache": "use", "output": "json", "artifacts": ["*"],
                  "secrets": ["secret"], "trace": "files", "policy": random.choice(("standard", "review", "strict")),
                  "labels": {"a": "b"}, "agent": "fuzz", "on_output_limit": "truncate", "schema": {"type": "object"},
                  "files": [{"path": "a", "data": self.filler(min(self.size(), 300000)) if random.random() < 0.2 else "1"}]}
        for key in random.sample(list(extras), random.randrange(4)):
            params[key] = extras[key]
        if random.random() < 0.15:
            params["stdin"] = "i" * self.size()
        return params

    def params_of(self, method, schema):
        random = self.random
        params = self.run_params() if method in ("run", "check") and random.random() < 0.8 else self.shaped(schema)
        if method in ("wait", "cancel"):
            params = {random.choice(("msgid", "msgid", "id", "run_id")): None}
            key = next(iter(params))
            params[key] = {"msgid": max(0, self.msgid - random.randrange(3)), "id": random.choice(self.names),
                           "run_id": random.choice(("last", "last~1", "0"))}[key]
        if method in ("wait", "events.subscribe") or "timeout_ms" in params:
            params.update({"timeout_ms": 50} if method == "wait" else {})
        return self.mutated(params) if random.random() < 0.2 else params

    # ---- whole messages --------------------------------------------------------------------------

    def pack(self, value):
        return msgpack.packb(value, unicode_errors="surrogatepass", strict_types=False)

    def request(self):
        """A usually well-formed request."""
        random = self.random
        method, schema = ("run", dict(METHODS)["run"]) if random.random() < 0.3 else random.choice(METHODS)
        params = self.params_of(method, schema)
        self.msgid = self.msgid if random.random() < 0.05 else self.msgid + 1
        return self.pack([0, self.msgid, method, [params]])

    def large_request(self):
        """A request whose length is near a threshold."""
        self.msgid += 1
        method = self.random.choice(("hello", "run", "check", "blob.put", "policies.test", "no.such"))
        key = self.random.choice(("code", "data", "stdin", "odd", "client", "cases"))
        params = {"language": "python", "code": "print(1)"} if method in ("run", "check") else {}
        params[key] = ""
        room = max(0, self.size() - len(self.pack([0, self.msgid, method, [params]])) - 4)
        params[key] = self.filler(room)
        return self.pack([0, self.msgid, method, [params]])

    def no_request(self):
        """A complete value of any size that is not a request, so that no answer is possible."""
        big = self.filler(self.size())
        return self.pack(self.random.choice((
            big, [big], {"code": big}, [0, big, "run", []], [0, "7", "run", [big]], [1, 5, None, big], [1, big, None, None],
            [2, "x", big], [2, big, []], [2, "x", [], big], [2, "x", [{"a": big}]], [3, 5, "run", [big]], [-1, 5, "run", [big]],
            [0.0, 5, "run", [big]], ["0", 5, "run", [big]], [], [0], [0, 5], [2], None, 1.5, msgpack.ExtType(5, b"e" * 70000))))

    def odd_request(self):
        """A request with one wrong part."""
        parts = [0, self.random.choice((7, 0, 2**32 - 1)), "hello", [{}]]
        where = self.random.randrange(4)
        parts[where] = self.junk() if self.random.random() < 0.8 else self.filler(self.size())
        return self.pack(parts[: self.random.choice((2, 3, 4, 4, 4, 4))] + ([1] if self.random.random() < 0.05 else []))

    def odd_heads(self):
        """Numbers in longer forms than necessary."""
        return self.random.choice((b"\xdc\x00\x04", b"\xdd\x00\x00\x00\x04")) + self.random.choice((
            b"\xcc\x00\xcd\x00\x07", b"\xd0\x00\xd1\x00\x07", b"\xcf" + b"\0" * 8 + b"\xd3" + b"\0" * 7 + b"\x07")) + \
            self.random.choice((b"\xd9\x05hello", b"\xda\x00\x05hello")) + self.random.choice((b"\x90", b"\xdc\0\x01\xde\0\0"))

    def broken(self):
        """Bytes that are not msgpack, have wrong lengths, nest too deep, or are noise."""
        random = self.random
        head = random.choice((b"", b"\x94\x00\x05\xa3run\x91", b"\x93\x02\xa1x\x91", b"\x94\x01\x05\xc0"))
        length = struct.pack(">I", random.choice((0, 1, 70000, CEILING, CEILING + 1, 2**31, 2**32 - 1)))
        return head + random.choice((
            b"\xc1", b"\xdb" + length, b"\xc6" + length, b"\xdd" + length, b"\xdf" + length, b"\xc9" + length + b"\x01",
            b"\x91" * random.choice((30, 33, 10000)), b"\x81\xa1k" * 40, b"\x82\xa1k\x01\xa1k\x02", b"\xa2\xff\xfe",
            b"\xc6" + struct.pack(">I", 70000) + b"\xff" * 70000, bytes(random.randrange(256) for _ in range(random.randrange(400))),
            b"GET / HTTP/1.1\r\n\r\n", b'{"method": "run"}\n', b"\n", b"[0, 1]\n"))

    def damaged(self):
        """A good message of which a byte was changed, or that was cut."""
        message = bytearray(self.request() if self.random.random() < 0.7 else self.large_request())
        at = self.random.randrange(len(message))
        if self.random.random() < 0.5:
            message[at] = self.random.randrange(256)
            return bytes(message)
        return bytes(message[:at])

    def passed_over(self):
        """Messages that the daemon reads and ignores: notifications of any shape, responses."""
        big = self.filler(self.size() % CEILING // 2)
        return self.pack(self.random.choice(([2, "x", [big]], [2, big, []], [2, "x", big], [1, 5, None, big], [2, "x", [{}]])))

    def one(self):
        """A message after which the connection usually stays open."""
        makers = (self.request, self.large_request, self.odd_heads, self.passed_over, self.odd_request)
        return self.random.choices(makers, (20, 2, 1, 1, 1))[0]()

    def last(self):
        """A message that may end its connection."""
        return self.random.choice((self.no_request, self.odd_request, self.damaged, self.broken, self.large_request))()

    def many(self, count):
        """All messages of one client."""
        return b"".join([self.one() for _ in range(count)] + ([self.last()] if self.random.random() < 0.6 else []))
