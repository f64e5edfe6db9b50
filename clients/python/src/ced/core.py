"""The protocol without a socket: requests become bytes, and bytes become answers and events.

A connection has one Core. It numbers requests, cuts what comes into messages, and puts each message
where it belongs: an answer and the events of a run into the Exchange of its request. What belongs to
no request is given back to the caller.
"""

from __future__ import annotations

import itertools
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple

import msgpack

from .errors import CedError, ConnectionLost, error_from
from .events import Event, EventReader, Map, is_event

REQUEST, RESPONSE, NOTIFICATION = 0, 1, 2
CHUNK = 1 << 16
Notice = Tuple[str, Map]


class Exchange:
    """One request that was sent: its events and its answer as they come."""

    __slots__ = ("msgid", "method", "run_id", "events", "reader", "done", "wake", "connection", "unsent", "_result",
                 "_failure")

    def __init__(self, msgid: int, method: str, wants_events: bool) -> None:
        self.msgid = msgid
        self.method = method
        self.run_id: Optional[str] = None
        self.events: Deque[Event] = deque()
        self.reader = EventReader() if wants_events else None
        self.done = False
        self.wake: Optional[Callable[[], None]] = None  # the connection is told to look again
        self.connection: Any = None  # over which it was sent
        self.unsent = False  # the connection has taken nothing of it
        self._result: Any = None
        self._failure: Optional[CedError] = None

    @property
    def ready(self) -> bool:
        """Whether there is an event or the answer."""
        return self.done or bool(self.events)

    def result(self) -> Any:
        """The answer; raises its error."""
        if self._failure is not None:
            raise self._failure
        return self._result

    def add(self, method: str, params: Map) -> None:
        """Takes a notification about this run."""
        assert self.reader is not None
        self.events.append(self.reader.event(method, params))
        self._look()

    def end(self, result: Any, failure: Optional[CedError]) -> None:
        """Takes the answer."""
        self._result, self._failure, self.done = result, failure, True
        self._look()

    def _look(self) -> None:
        if self.wake is not None:
            self.wake()


def _place(value: Any, path: str = "") -> str:
    """Where in the params a value is that cannot be sent, such as /input/0."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    for key, each in inner:
        try:
            msgpack.packb([key, each])
        except (TypeError, OverflowError):
            return _place(each, f"{path}/{key}")
    return path


class Source:
    """What an Unpacker reads from."""

    __slots__ = ("read",)

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self.read = read


class Core:
    """The state of one connection. With `read`, it takes bytes from there; else `feed` gives them."""

    def __init__(self, read: Optional[Callable[[int], bytes]] = None) -> None:
        self._packer = msgpack.Packer(use_bin_type=True)
        self._unpacker = msgpack.Unpacker(Source(read) if read else None, raw=False, read_size=CHUNK,
                                          max_buffer_size=1 << 31)
        self._came: Deque[Any] = deque()  # what `receive` got
        self._numbers = itertools.count(1)
        self._open: Dict[int, Exchange] = {}
        self._runs: Dict[str, Exchange] = {}

    @property
    def waiting(self) -> int:
        """How many requests wait for their answers."""
        return len(self._open)

    def request(self, method: str, params: Map, wants_events: bool = False) -> Tuple[Exchange, bytes]:
        """A request that is to be sent: what becomes of it, and its bytes."""
        exchange = Exchange(next(self._numbers) & 0xFFFFFFFF, method, wants_events)
        try:
            packed: bytes = self._packer.pack([REQUEST, exchange.msgid, method, [params]])
        except (TypeError, OverflowError) as error:
            raise type(error)(f"{_place(params)}: {error}") from None
        self._open[exchange.msgid] = exchange
        return exchange, packed

    def post(self, method: str, params: Map) -> bytes:
        """The bytes of a request whose answer nobody waits for. Any thread may ask at any time."""
        packed: bytes = msgpack.packb([REQUEST, next(self._numbers) & 0xFFFFFFFF, method, [params]])
        return packed

    def forget(self, exchange: Exchange) -> None:
        """Nobody waits for it."""
        self._open.pop(exchange.msgid, None)

    def watch(self, exchange: Exchange) -> None:
        """Ends an exchange that no answer ends when the connection is lost."""
        self._open[exchange.msgid] = exchange

    def feed(self, data: bytes) -> List[Notice]:
        """Takes what came from the socket. Gives the notifications that belong to no request."""
        self._unpacker.feed(data)
        notices: List[Notice] = []
        for message in self._unpacker:
            self._message(message, notices)
        return notices

    def receive(self) -> bool:
        """Waits for one message. False if the connection has ended.

        Ctrl-C may end it at any place. No message is lost then: nothing of Python runs between the socket and
        the list of what came.
        """
        if not self._came:
            self._came.extend(itertools.islice(self._unpacker, 1))
        return bool(self._came)

    def take(self) -> List[Notice]:
        """Takes what `receive` got. Gives the notifications that belong to no request.

        A message that Ctrl-C interrupts is taken again.
        """
        notices: List[Notice] = []
        while self._came:
            self._message(self._came[0], notices)
            self._came.popleft()
        return notices

    def lost(self, why: str) -> None:
        """Ends all requests: the connection is gone."""
        exchanges = list(self._open.values())
        self._open.clear()
        self._runs.clear()
        for exchange in exchanges:
            exchange.end(None, ConnectionLost(f"the connection to ced was lost before the answer to "
                                              f"{exchange.method} came: {why}", True, exchange.run_id))

    def _message(self, message: Any, notices: List[Notice]) -> None:
        try:
            if message[0] == RESPONSE:
                self._answer(*message[1:4])
            elif message[0] == NOTIFICATION:
                self._notice(message[1], message[2][0] if message[2] else {}, notices)
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            raise ValueError(f"{str(message)[:100]} is none of the protocol ({type(error).__name__}: {error})") from error

    def _answer(self, msgid: int, error: Optional[Map], result: Any) -> None:
        exchange = self._open.get(msgid)
        if exchange is None:
            return
        failure = None if error is None else error_from(error)
        exchange.end(result, failure)
        self._runs.pop(exchange.run_id or "", None)
        self._open.pop(msgid, None)

    def _notice(self, method: str, params: Map, notices: List[Notice]) -> None:
        if method == "run.started":
            self._bind(params)
        exchange = self._runs.get(params.get("run_id", ""))
        if exchange is not None and is_event(method):
            exchange.add(method, params)
        else:
            notices.append((method, params))

    def _bind(self, params: Map) -> None:
        """The daemon said which run a request has become."""
        exchange = self._open.get(params["msgid"])
        if exchange is not None and exchange.reader is not None:
            exchange.run_id = params["run_id"]
            self._runs[params["run_id"]] = exchange
