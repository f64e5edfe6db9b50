"""What tests share: waiting for events, and a proxy that loses connections when it is told to."""

import os
import pathlib
import shutil
import socket
import tempfile
import threading
import time

import msgpack

import ced

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
FOR_LONG = {"cpu_ms": 60000, "wall_ms": 60000}
FOREVER = "while True: pass"


def until(look, what="it"):
    """Waits until `look()` gives something, and gives that. A minute is for machines that hang."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"{what} did not happen")


def unsendable():
    """Tools whose answers the daemon or msgpack refuse, a program that prints what it is told, and that."""
    def raising(error):
        def function() -> None:
            raise error
        return function

    deep = []
    for _ in range(100):
        deep = [deep]
    results = {"nan": float("nan"), "key": {1: 2}, "deep": deep, "text": "\ud800", "object": object()}
    tools = {name: (lambda value: lambda: value)(value) for name, value in results.items()}
    errors = {"nan_data": ced.ToolError("so", {"x": float("inf")}), "object_data": ced.ToolError("so", object()),
              "half": ValueError("a\udcff"), "nul": ValueError("a\0b"), "number": ced.ToolError(3), "mute": Mute()}
    tools.update({name: raising(error) for name, error in errors.items()})
    code = "for name in %r:\n    try:\n        getattr(tools, name)()\n" \
           "    except tools.ToolError as error:\n        print(name, error.code, error.message)\n" % list(tools)
    result, data = "failed the tool's result cannot be sent: ", r"failed so \(the data of this error cannot be sent: "
    said = [f"nan {result}a number is infinite or not a number", f"key {result}.*key is not text", f"deep {result}.*deeper than 32",
            f"text {result}UnicodeEncodeError", f"object {result}TypeError: /result: ",
            f"nan_data {data}a number is infinite or not a number", f"object_data {data}TypeError: /error/data: ",
            r"half failed ValueError: a\\udcff", r"nul failed ValueError: a\\x00b", "number failed 3", "mute failed Mute"]
    return tools, code, "^" + "".join(f"{line}.*\n" for line in said) + "$"


class Mute(Exception):
    """One that cannot say what it is."""

    def __str__(self):
        raise KeyError("no text")


def ended(client, run_id):
    """The outcome of a run when it has ended."""
    return client.wait(run_id).outcome


class Proxy:
    """Stands between a client and the daemon, and counts requests.

    `cut_at` is the method whose request ends the connection: before the daemon gets it, or with
    `answered` when the daemon has answered and the client has not heard of it.
    """

    def __init__(self, cut_at=None, answered=False, times=1):
        self.cut_at, self.answered, self.times = cut_at, answered, times
        self.requests = []
        self._folder = tempfile.mkdtemp()
        self.path = os.path.join(self._folder, "proxy.sock")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen()
        self._pairs = []
        self._threads = []
        self._thread(self._accept)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self.cut()
        for each in self._threads:
            each.join()
        for each in (self._listener, *(one for pair in self._pairs for one in pair)):
            each.close()
        shutil.rmtree(self._folder)

    def _thread(self, function, *args):
        self._threads.append(threading.Thread(target=function, args=args))
        self._threads[-1].start()

    def cut(self):
        """Ends all connections."""
        for pair in self._pairs:
            self._end(pair)

    def _accept(self):
        while True:
            try:
                ours = self._listener.accept()[0]
            except OSError:
                return
            theirs = socket.socket(socket.AF_UNIX)
            theirs.connect(os.environ["CED_SOCKET"])
            pair = ours, theirs
            self._pairs.append(pair)
            doomed = threading.Event()
            self._thread(self._requests, pair, doomed)
            self._thread(self._answers, pair, doomed)

    @staticmethod
    def _end(pair):
        for each in pair:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _requests(self, pair, doomed):
        unpacker = msgpack.Unpacker()
        while data := self._read(pair[0]):
            unpacker.feed(data)
            methods = [message[2] for message in unpacker if message[0] == 0]
            self.requests += methods
            if self.cut_at in methods and self.times > 0:
                self.times -= 1
                if not self.answered:
                    self._end(pair)
                    return
                doomed.set()
            pair[1].sendall(data)
        self._end(pair)

    def _answers(self, pair, doomed):
        while data := self._read(pair[1]):
            if doomed.is_set():
                break
            try:
                pair[0].sendall(data)
            except OSError:
                break
        self._end(pair)

    @staticmethod
    def _read(one):
        try:
            return one.recv(1 << 16)
        except OSError:
            return b""
