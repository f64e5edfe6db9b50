#!/usr/bin/python3
"""A client of ced on python3-msgpack and nothing else.

    with Client() as ced:
        result = ced.run("print(6 * 7)")
        print(result["outcome"], result["stdout"])

As a program it runs a file, or what comes on stdin, and shows what it prints while it runs:

    examples/client.py job.py
    echo 'print(6 * 7)' | examples/client.py

docs/PROTOCOL.md is the contract.  A program that failed, was refused by the policy or was killed
is a result with an outcome; Refused is raised only where there is no result.

Where the policy asks a person, a run waits until one has decided, which can take hours: the client says so
on stderr, or calls what you put into on_parked.
"""

import itertools
import os
import socket
import sys
import time

import msgpack


class Refused(Exception):
    """The error of a response: .code and .message, and .data, which says where and why."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]
        self.message = error["message"]
        self.data = error.get("data", {})


def socket_path():
    """Where a daemon is likely to listen: as we were told, our own, the host's."""
    own = os.path.join(os.environ.get("XDG_RUNTIME_DIR", ""), "ced/ced.sock")
    if "CED_SOCKET" in os.environ:
        return os.environ["CED_SOCKET"]
    return own if os.path.exists(own) else "/run/ced/ced.sock"


def as_bytes(data):
    """Text comes as str where it is UTF-8 and as bytes where not."""
    return data if isinstance(data, bytes) else data.encode()


def note_parked(parked):
    """Says that a run waits for a person, and for how long at most."""
    minutes = max(0, parked["until_us"] / 1e6 - time.time()) / 60
    print(f"run {parked['run_id']} waits for approval, for at most {minutes:.0f} min "
          f"(cectl approve {parked['run_id']}); leaving cancels it", file=sys.stderr, flush=True)


class Client:
    """One connection.  Not for several threads at once: give each its own."""

    def __init__(self, path=None):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path or socket_path())
        self.unpacker = msgpack.Unpacker(raw=False, strict_map_key=False)
        self.ids = itertools.count(1)
        self.on_output = None
        self.on_parked = note_parked
        self.functions = {}  # name of a tool -> what answers its calls
        self.replies = {}
        self.unasked = set()  # requests whose results nobody waits for

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Leaves.  Runs that are in flight and not detached are cancelled."""
        self.socket.close()

    def send(self, method, **params):
        """Sends a request and returns its id; many may be in flight together."""
        msgid = next(self.ids)
        request = msgpack.packb([0, msgid, method, [params]])
        try:
            self.socket.sendall(request)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the daemon may have refused a message that is too large: its answer says so
        return msgid

    def receive(self, msgid):
        """The result of one request.  Those of others are kept until they are asked for."""
        while msgid not in self.replies:
            self._read()
        error, result = self.replies.pop(msgid)
        if error is not None:
            raise Refused(error)
        return result

    def _read(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionError("the daemon closed the connection")
        self.unpacker.feed(data)
        for message in self.unpacker:
            if message[0] == 1 and message[1] in self.unasked:
                self.unasked.remove(message[1])
            elif message[0] == 1:
                self.replies[message[1]] = message[2:4]
            elif message[1] == "run.output" and self.on_output:
                piece = message[2][0]
                self.on_output(piece["stream"], as_bytes(piece["data"]))
            elif message[1] == "run.parked" and self.on_parked:
                self.on_parked(message[2][0])
            elif message[1] == "run.call":
                self._answer(**message[2][0])

    def _answer(self, run_id, call, tool, args, **_):
        """Calls the function of a tool.  What it raises is what the program gets."""
        try:
            answer = {"result": self.functions[tool](**args)}
        except Exception as error:
            answer = {"error": {"message": f"{type(error).__name__}: {error}"}}
        self.unasked.add(self.send("call.reply", run_id=run_id, call=call, **answer))

    def call(self, method, **params):
        """Sends a request and waits for its result."""
        return self.receive(self.send(method, **params))

    def run(self, code, language="python", **params):
        """Runs a program.  The keys are those of `run` in docs/PROTOCOL.md."""
        return self.call("run", language=language, code=code, **params)


def show(stream, data):
    """Passes on what the program wrote, as it comes."""
    out = sys.stderr.buffer if stream == "stderr" else sys.stdout.buffer
    out.write(data)
    out.flush()


def main():
    with open(sys.argv[1], "rb") if len(sys.argv) > 1 else sys.stdin.buffer as file:
        code = file.read()
    with Client() as ced:
        ced.on_output = show
        try:
            result = ced.run(code, stream=True)
        except Refused as why:
            sys.exit(f"{why.code}: {why.message}")
    if not result["ok"]:
        sys.exit(f"{result['outcome']}: {result['reason']}")


if __name__ == "__main__":
    main()
