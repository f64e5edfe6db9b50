"""The client that blocks.

    with ced.Client() as client:
        print(client.run("print(6 * 7)").stdout)

Several threads may use one client: their requests share its connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
import time
import weakref
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from threading import get_ident
from types import TracebackType
from typing import Any, Callable, Deque, Dict, Generic, Iterator, List, Optional, Type, TypeVar, Union, overload
from typing import TYPE_CHECKING

from . import steps as does
from .core import Core, Exchange, Notice
from .errors import Busy, ConnectionLost, NotFound
from .events import Event, Map, Parked
from .files import blob_parts
from .methods import Methods, sent_params
from .place import Path, connect, socket_path
from .results import Check, Pending, Replay, Result
from .session import SessionState
from .steps import Job, Operation, Settings, Steps
from .tools import reply, reply_again

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .params import CellParams, RunParams, SessionParams

T = TypeVar("T")
INTERRUPTED = ("this thread is inside the client already: a function that a signal or the garbage collector calls "
               "needs a Client of its own")


class Connection:
    """A socket and the Core behind it. Of the threads that wait, one reads; it wakes those whose answers came.

    Ctrl-C, another signal's function, a fork or a garbage collection may come at any place.
    """

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._core = Core(connected.recv)
        self._left = False  # close() was called
        self.closed = False  # for requests
        self._anew()
        _forked.add(self)

    def _anew(self) -> None:
        self._lock = threading.RLock()  # a signal's function may come to a thread that has it
        self._sending = threading.Lock()
        self._posts: Deque[bytes] = deque()  # requests whose answers nobody waits for, until a thread may send
        self._sender = self._reader = 0  # the threads that send and read
        self._asleep: Dict[Exchange, threading.Lock] = {}  # threads that wait for another one to read

    def after_fork(self) -> None:
        """In the child: the connection stays with the parent, whose other threads may have had the locks."""
        self.closed = True
        self._anew()
        self._socket.close()

    @property
    def is_open(self) -> bool:
        """Whether it may take a request. What `send` gives says whether it did."""
        return not self.closed

    def send(self, method: str, params: Map, wants_events: bool) -> Exchange:
        """Sends a request. The exchange is `unsent` if the daemon had closed the connection before."""
        with self._lock:
            exchange, packed = self._core.request(method, params, wants_events)
        exchange.connection = self
        exchange.unsent = not self._write(packed)
        if self._posts:
            self._flush()
        return exchange

    def forget(self, exchange: Exchange) -> None:
        """Nobody waits for it."""
        with self._lock:
            self._core.forget(exchange)

    def post(self, method: str, params: Map) -> None:
        """Sends a request whose answer nobody waits for. It waits for no lock, since __del__ comes here."""
        self._posts.append(self._core.post(method, params))
        self._flush()

    def _flush(self) -> None:
        """A thread that sends already will flush afterwards."""
        while self._posts and not self._sending.locked():
            with contextlib.suppress(IndexError):  # another thread was faster
                self._write(self._posts.popleft())

    def _write(self, packed: bytes) -> bool:
        """Whether any of it was sent."""
        me, sent, is_half = get_ident(), 0, False
        if self._sender == me:
            raise RuntimeError(INTERRUPTED)
        try:
            with self._sending:
                try:
                    self._sender, is_half = me, True
                    sent = self._socket.send(packed)
                    if sent < len(packed):
                        self._socket.sendall(memoryview(packed)[sent:])
                    is_half = False
                finally:
                    self._sender = 0
        except OSError:
            self.closed = True  # the daemon may have said why: that is still to be read
        except BaseException:
            if is_half:
                self.close()
            raise
        return sent > 0

    def next(self, exchange: Exchange) -> List[Notice]:
        """Waits until the exchange is ready or notifications for nobody have come, which it gives."""
        me, reads = get_ident(), False
        gate: Optional[threading.Lock] = None
        try:
            with self._lock:
                if exchange.ready:
                    return []
                if self._reader == me:
                    raise RuntimeError(INTERRUPTED)
                if self._reader:
                    gate = self._asleep[exchange] = threading.Lock()
                    gate.acquire()
                else:
                    reads, self._reader = True, me
            if gate is not None:
                if self._reader:  # still: it will see that this thread sleeps
                    gate.acquire(timeout=1.0)  # if Ctrl-C kept a reader from waking this thread, it wakes then
                return []
            return self._take(self._receive())
        finally:
            if reads:
                self._reader = 0  # without the lock: Ctrl-C could come out of waiting for it
                self._wake()
            elif gate is not None:
                self._asleep.pop(exchange, None)

    def _wake(self) -> None:
        """Wakes the threads whose answers came, and one that reads on."""
        if self._asleep:
            with self._lock:
                asleep = list(self._asleep)
                others = [each for each in asleep if not each.ready]
                for each in [each for each in asleep if each.ready] + others[:1]:
                    gate = self._asleep.pop(each, None)
                    if gate is not None:
                        gate.release()

    def _receive(self) -> str:
        """Waits for a message. Gives why there is none."""
        try:
            if self._core.receive():
                return ""
        except OSError:
            pass
        except ValueError as error:
            return f"what came is no message: {error}"
        return "this client closed it" if self._left else "the daemon closed it"

    def _take(self, lost: str) -> List[Notice]:
        with self._lock:
            try:
                if not lost:
                    return self._core.take()
            except ValueError as error:
                lost = f"what came is no message: {error}"
            self.closed = True
            self._core.lost(lost)
            self._socket.close()
            return []

    def close(self) -> None:
        """Leaves. Runs in flight are cancelled by the daemon."""
        self.closed = self._left = True
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the daemon was first
        self._socket.close()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # Ctrl-C came before it had its socket
            self._socket.close()


_forked: weakref.WeakSet[Any] = weakref.WeakSet()  # clients and connections, which a fork copies


def _after_fork() -> None:
    for each in list(_forked):
        each.after_fork()


os.register_at_fork(after_in_child=_after_fork)


class Stream(Generic[T]):
    """The events of a run, in their order. `result` is there when they have ended.

    Leaving the `with` block, or dropping the stream, before its end cancels the run.
    """

    def __init__(self, client: Client, operation: Operation, finish: Callable[[Map], Result[T]]) -> None:
        self._client = client
        self._operation = operation
        self._steps = operation.steps()
        self._finish = finish
        self._result: Optional[Result[T]] = None

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        if self._result is not None:
            raise StopIteration
        came = self._client._advance(self._steps)
        if not isinstance(came, does.Finished):
            return came
        if came.value is not None:
            self._result = self._finish(came.value)
        raise StopIteration

    @property
    def run_id(self) -> Optional[str]:
        """The run's name, from its first event on."""
        return self._operation.run_id

    @property
    def result(self) -> Result[T]:
        """The result. Events that were not read yet are passed over."""
        for _ in self:
            pass
        if self._result is None:
            raise RuntimeError(does.CLOSED)
        return self._result

    def cancel(self) -> None:
        """Cancels the run. Its result then has the outcome `canceled`."""
        self._operation.cancel()

    def close(self) -> None:
        """Cancels the run if it goes on, and forgets it."""
        self._steps.close()

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class Session(SessionState):
    """A session: programs that build on one another. Leaving the `with` block closes it."""

    _client: Client

    @overload
    def run(self, code: Union[str, bytes], *, schema: Type[T], **params: Unpack[CellParams]) -> Result[T]: ...

    @overload
    def run(self, code: Union[str, bytes], *, schema: Union[Map, bool, None] = None,
            **params: Unpack[CellParams]) -> Result[Any]: ...

    def run(self, code: Union[str, bytes], *, schema: Any = None, **params: Any) -> Result[Any]:
        """Runs a cell."""
        return self.seen(self._client.run(code, schema=schema, session=self.id, **params))

    def stream(self, code: Union[str, bytes], *, schema: Any = None, **params: Unpack[CellParams]) -> Stream[Any]:
        """Runs a cell and gives its events as they come."""
        return self._client._stream(code, None, schema, {"session": self.id, **params}, self.seen)

    def rollback(self, state: int) -> Map:
        """Goes back to a kept state."""
        return self.stands(self._client.session_rollback(session=self.id, state=state))

    def keep(self, name: Optional[str] = None) -> Map:
        """Pins the state in which the session stands, so that newer ones do not replace it."""
        return self.stands(self._client.session_keep(session=self.id, name=name))

    def drop(self, state: int) -> Map:
        """Gives up a kept state."""
        return self.stands(self._client.session_drop(session=self.id, state=state))

    def close(self) -> Optional[Map]:
        """Ends the session. None if it has ended already."""
        try:
            closed = self._client.session_close(session=self.id)
        except NotFound:
            return None
        self.ended = self.ended or "closed"
        return closed

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Client(Methods[Map]):
    """A client that blocks, with one connection, made when it is first needed and again after it was lost.

    `path` is the daemon's socket. `busy_s` is for how long a request is repeated that the daemon was too
    busy for. `on_parked` is called with each run that must wait for a person; without it a warning is
    logged. `on_notice` gets notifications that belong to no run.
    """

    def __init__(self, path: Optional[Path] = None, *, busy_s: float = 30.0,
                 on_parked: Optional[Callable[[Parked], None]] = None,
                 on_notice: Optional[Callable[[str, Map], None]] = None) -> None:
        self._path = socket_path(path)
        self._settings = Settings(busy_s, on_parked)
        self._on_notice = on_notice
        self._connecting = threading.Lock()
        self._connection: Optional[Connection] = None
        _forked.add(self)
        self._does: Dict[type, Callable[[Any], Any]] = {
            does.Send: self._send, does.Next: self._next, does.Invoke: self._invoke,
            does.CallEnds: lambda effect: None,  # a function that runs cannot be stopped
            does.Sleep: lambda effect: time.sleep(effect.seconds),
        }

    # --- runs -------------------------------------------------------------------------------------

    @overload
    def run(self, code: Union[str, bytes], language: Optional[str] = None, *, schema: Type[T],
            **params: Unpack[RunParams]) -> Result[T]: ...

    @overload
    def run(self, code: Union[str, bytes], language: Optional[str] = None, *,
            schema: Union[Map, bool, None] = None, **params: Unpack[RunParams]) -> Result[Any]: ...

    def run(self, code: Union[str, bytes], language: Optional[str] = None, *, schema: Any = None,
            **params: Any) -> Result[Any]:
        """Runs a program and gives its result, whatever becomes of the program.

        `language` is Python where nothing else is said. `schema` is a JSON Schema of the output, or a
        model class of pydantic. `files` maps paths to contents, `tools` are functions of yours.
        docs/PROTOCOL.md has all params.
        """
        job = Job(code, language, schema, params)
        return job.result(self._do(self._operation("run", job)))

    def stream(self, code: Union[str, bytes], language: Optional[str] = None, *, schema: Any = None,
               **params: Unpack[RunParams]) -> Stream[Any]:
        """Runs a program and gives its events as they come, and then its result."""
        return self._stream(code, language, schema, {**params}, lambda result: result)

    def start(self, code: Union[str, bytes], language: Optional[str] = None, *, schema: Any = None,
              **params: Unpack[RunParams]) -> Union[Result[Any], Pending]:
        """Starts a run that goes on without this client; `wait` gives its result.

        A run that is refused before it could begin has its result at once.
        """
        job = Job(code, language, schema, {**params})
        job.params["detach"] = True
        return job.result_or_pending(self._do(self._operation("run", job)))

    def check(self, code: Union[str, bytes], language: Optional[str] = None, *, schema: Any = None,
              **params: Unpack[RunParams]) -> Check:
        """What `run` would say, without running or recording anything."""
        return does.check(self.call("check", Job(code, language, schema, {**params}).params))

    def put_blob(self, data: Union[str, bytes]) -> str:
        """Sends a content ahead, in parts, and gives its name for `files=[{"path": ..., "blob": name}]`."""
        sent: Map = {}
        for part in blob_parts(data):
            sent = self.blob_put(**part)
        return str(sent["sha256"])

    def wait(self, run_id: Union[str, Pending, Result[Any], None] = None, *, id: Optional[str] = None,
             msgid: Optional[int] = None, timeout_ms: Optional[int] = None) -> Union[Result[Any], Pending]:
        """The result of a run when it has ended, or that it still goes on after `timeout_ms`.

        `run_id` may be what `start` gave: a result, if the run was over then, is given back.
        """
        if isinstance(run_id, Result):
            return run_id
        params = does.wait_params(run_id, id=id, msgid=msgid, timeout_ms=timeout_ms)
        return does.waited(run_id, self.call("wait", params))

    def runs_replay(self, run_id: str, *, deterministic: Optional[bool] = None, **params: Any) -> Replay:
        """Runs what the record holds again and compares. Takes `secrets`, `tools` and `on_parked` as `run` does.

        Without `tools`, calls of tools get the answers that the record has.
        """
        job = does.replay_params({"run_id": run_id, "deterministic": deterministic, **params})
        return does.replay(self._do(self._operation("runs.replay", job)))

    def session(self, language: str = "python", **params: Unpack[SessionParams]) -> Session:
        """Opens a session."""
        return Session(self, self.session_open(language=language, **params))

    def events(self, **params: Any) -> Iterator[Map]:
        """The daemon's events as they happen, on a connection of their own. Takes `kinds`, `uid`, `agent`, `task`."""
        came: List[Map] = []
        with Client(self._path, on_notice=lambda method, event: came.append(event)) as own:
            own.events_subscribe(**params)
            while True:
                yield from came
                came.clear()
                own._listen()

    # --- how it is done ---------------------------------------------------------------------------

    def call(self, method: str, params: Optional[Map] = None) -> Map:
        """Sends any method. The keys of params and answer are those of docs/PROTOCOL.md."""
        answer: Map = self._do(Operation(self._settings, method, sent_params(params or {})))
        return answer

    def close(self) -> None:
        """Closes the connection. Runs of this client that are in flight are cancelled."""
        if self._connection is not None:
            self._connection.close()

    def after_fork(self) -> None:
        """In the child, which connects anew."""
        self._connecting = threading.Lock()
        self._connection = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def _operation(self, method: str, job: Job, streamed: bool = False) -> Operation:
        return Operation(self._settings, method, job.params, job.tools, job.on_parked, streamed)

    def _stream(self, code: Union[str, bytes], language: Optional[str], schema: Any, params: Dict[str, Any],
                seen: Callable[[Result[Any]], Result[Any]]) -> Stream[Any]:
        job = Job(code, language, schema, params)
        job.params["stream"] = True
        return Stream(self, self._operation("run", job, True), lambda raw: seen(job.result(raw)))

    def _do(self, operation: Operation) -> Any:
        """The answer. Without events it is mostly there at the first try, which needs no steps: they cost more."""
        if operation.send.wants_events:
            return self._run(operation.steps())
        exchange = self._send(operation.send)
        try:
            while not exchange.done:
                self._wait(exchange)
            return exchange.result()
        except (Busy, ConnectionLost) as error:
            pause = operation.pause(error)
            if pause is None:
                raise
        finally:
            does.cancel(exchange)
        return self._run(operation.steps(pause))

    def _run(self, steps: Steps[Any]) -> Any:
        while True:
            came = self._advance(steps)
            if isinstance(came, does.Finished):
                return came.value

    def _advance(self, steps: Steps[Any]) -> Union[Event, does.Finished]:
        """Carries out steps up to the next event, or to their end."""
        try:
            effect = steps.send(None)
            while not isinstance(effect, does.Emit):
                try:
                    answer = self._does[type(effect)](effect)
                except BaseException as error:
                    effect = steps.throw(error)
                else:
                    effect = steps.send(answer)
            return effect.event
        except StopIteration as end:
            return does.Finished(end.value)

    def _open(self) -> Connection:
        connection = self._connection
        if connection is not None and connection.is_open:
            return connection
        with self._connecting:
            if self._connection is None or not self._connection.is_open:
                self._connection = Connection(connect(self._path))
            return self._connection

    def _send(self, effect: does.Send) -> Exchange:
        method, params, wants_events = effect
        exchange = self._open().send(method, params, wants_events)
        if exchange.unsent:  # the daemon has ended the connection since the request before
            exchange.connection.forget(exchange)
            exchange = self._open().send(method, params, wants_events)
        return exchange

    def _next(self, effect: does.Next) -> Optional[Event]:
        exchange = effect.exchange
        while not exchange.ready:
            self._wait(exchange)
        return exchange.events.popleft() if exchange.events else None

    def _wait(self, exchange: Exchange) -> None:
        """Until something has come."""
        for method, params in exchange.connection.next(exchange):
            self._notice(method, params)

    def _listen(self) -> None:
        """Waits for notifications, and for nothing else."""
        connection = self._connection
        assert connection is not None
        exchange = Exchange(0, "events.subscribe", False)
        exchange.connection = connection
        self._wait(exchange)
        if connection.closed:
            raise ConnectionLost("the daemon closed the connection over which its events came", True)

    def _invoke(self, effect: does.Invoke) -> None:
        try:
            result = effect.tool.invoke(effect.call.args)
            if effect.tool.is_async:
                result = _awaited(result)
            answer = reply(effect.call, result)
        except Exception as error:
            answer = reply(effect.call, error=error)
        try:
            self._reply(effect.exchange, answer)
        except ConnectionLost:
            pass  # the run ends with it
        except Exception as error:
            effect.exchange.connection.post("call.reply", reply_again(answer, error))

    def _reply(self, run: Exchange, answer: Map) -> None:
        """Answers a call and hears what the daemon says to that, unless the run ends before."""
        sent = run.connection.send("call.reply", answer, False)
        while not sent.done and not run.done:
            self._wait(sent)
        sent.result()

    def _notice(self, method: str, params: Map) -> None:
        does.notice(self._settings, self._on_notice, method, params)


def _awaited(result: Any) -> Any:
    """What a coroutine gives. In a thread whose loop runs, as that of a notebook, another thread awaits it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(result)
    with ThreadPoolExecutor(1) as other:
        return other.submit(asyncio.run, result).result()


def run(code: Union[str, bytes], language: Optional[str] = None, *, schema: Any = None,
        **params: Unpack[RunParams]) -> Result[Any]:
    """Runs one program over a connection of its own. Use a Client for several."""
    with Client() as client:
        return client.run(code, language, schema=schema, **params)
