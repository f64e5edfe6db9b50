"""The client for asyncio. It has the functions of Client, to be awaited.

    async with ced.AsyncClient() as client:
        results = await asyncio.gather(*(client.run(f"print({n})") for n in range(200)))
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import (TYPE_CHECKING, Any, AsyncIterator, Awaitable, Callable, Dict, Generator, Generic, Optional, Tuple,
                    Type, TypeVar, Union, overload)

from . import steps as does
from .core import Core, Exchange
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
CHUNK = 1 << 16


class Connection(asyncio.Protocol):
    """A socket and the Core behind it."""

    def __init__(self, made: socket.socket, on_notice: Callable[[str, Map], None]) -> None:
        self._socket = made
        self._core = Core()
        self._on_notice = on_notice
        self._transport: Optional[asyncio.Transport] = None
        self.loop = asyncio.get_running_loop()
        self.closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio says that it is ready."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def is_open(self) -> bool:
        """Whether it can take a request of the loop that runs. A client may outlive its loop and be used in the next."""
        return not self.closed and self.loop is asyncio.get_running_loop()

    def data_received(self, data: bytes) -> None:
        """asyncio says what came."""
        try:
            for method, params in self._core.feed(data):
                self._on_notice(method, params)
        except ValueError as error:
            self.close()
            self._lost(f"what came is no message: {error}")

    def connection_lost(self, error: Optional[Exception]) -> None:
        """asyncio says that it is over. What the daemon said last may still lie in the socket."""
        with contextlib.suppress(OSError, ValueError):
            for data in iter(lambda: self._socket.recv(CHUNK), b""):
                self._core.feed(data)
        self._lost(str(error) if error else "the daemon closed it")

    def _lost(self, why: str) -> None:
        self.closed = True
        self._core.lost(why)

    def send(self, method: str, params: Map, wants_events: bool) -> Exchange:
        """Sends a request."""
        exchange, packed = self._core.request(method, params, wants_events)
        exchange.connection = self
        self._write(packed)
        return exchange

    def post(self, method: str, params: Map) -> None:
        """Sends a request whose answer nobody waits for."""
        self._write(self._core.post(method, params))

    def _write(self, packed: bytes) -> None:
        if self._transport is not None and not self.closed:
            self._transport.write(packed)

    def watch(self, exchange: Exchange) -> None:
        """Ends this exchange when the connection is lost."""
        self._core.watch(exchange)

    async def next(self, exchange: Exchange) -> None:
        """Waits until the exchange has an event or its answer."""
        came: asyncio.Future[None] = self.loop.create_future()

        def wake() -> None:
            if not came.done():
                came.set_result(None)

        exchange.wake = wake
        try:
            await came
        finally:
            exchange.wake = None

    def close(self) -> None:
        """Leaves. Runs in flight are cancelled by the daemon."""
        self.closed = True
        if self._transport is not None and not self.loop.is_closed():
            self._transport.close()


class _Done(Awaitable[None]):
    """What is over already. To await it is allowed, also where no loop runs when it is made."""

    def __await__(self) -> Generator[Any, None, None]:
        return
        yield


class AsyncStream(Generic[T]):
    """The events of a run, in their order, for `async for`. `await stream.result()` gives what it ended with.

    Leaving the `async with` block before its end cancels the run, and so does dropping the stream.
    """

    def __init__(self, client: AsyncClient, operation: Operation, finish: Callable[[Map], Result[T]]) -> None:
        self._client = client
        self._operation = operation
        self._steps = operation.steps()
        self._finish = finish
        self._result: Optional[Result[T]] = None

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        if self._result is not None:
            raise StopAsyncIteration
        came = await self._client._advance(self._steps)
        if not isinstance(came, does.Finished):
            return came
        if came.value is not None:
            self._result = self._finish(came.value)
        raise StopAsyncIteration

    @property
    def run_id(self) -> Optional[str]:
        """The run's name, from its first event on."""
        return self._operation.run_id

    async def result(self) -> Result[T]:
        """The result. Events that were not read yet are passed over."""
        async for _ in self:
            pass
        if self._result is None:
            raise RuntimeError(does.CLOSED)
        return self._result

    def cancel(self) -> Awaitable[None]:
        """Cancels the run at once, from any thread; to await it is allowed. Its result then has the outcome `canceled`."""
        self._operation.cancel()
        return _Done()

    def close(self) -> None:
        """Cancels the run if it goes on, and forgets it."""
        self._steps.close()

    async def __aenter__(self) -> AsyncStream[T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class AsyncSession(SessionState):
    """A session: programs that build on one another. Leaving the `async with` block closes it."""

    _client: AsyncClient

    @overload
    async def run(self, code: Union[str, bytes], *, schema: Type[T], **params: Unpack[CellParams]) -> Result[T]: ...

    @overload
    async def run(self, code: Union[str, bytes], *, schema: Union[Map, bool, None] = None,
                  **params: Unpack[CellParams]) -> Result[Any]: ...

    async def run(self, code: Union[str, bytes], *, schema: Any = None, **params: Any) -> Result[Any]:
        """Runs a cell."""
        return self.seen(await self._client.run(code, schema=schema, session=self.id, **params))

    def stream(self, code: Union[str, bytes], *, schema: Any = None,
               **params: Unpack[CellParams]) -> AsyncStream[Any]:
        """Runs a cell and gives its events as they come."""
        return self._client._stream(code, None, schema, {"session": self.id, **params}, self.seen)

    async def rollback(self, state: int) -> Map:
        """Goes back to a kept state."""
        return self.stands(await self._client.session_rollback(session=self.id, state=state))

    async def keep(self, name: Optional[str] = None) -> Map:
        """Pins the state in which the session stands, so that newer ones do not replace it."""
        return self.stands(await self._client.session_keep(session=self.id, name=name))

    async def drop(self, state: int) -> Map:
        """Gives up a kept state."""
        return self.stands(await self._client.session_drop(session=self.id, state=state))

    async def close(self) -> Optional[Map]:
        """Ends the session. None if it has ended already."""
        try:
            closed = await self._client.session_close(session=self.id)
        except NotFound:
            return None
        self.ended = self.ended or "closed"
        return closed

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class _Opening:
    """A session that is being opened: to be awaited, or entered with `async with`."""

    def __init__(self, client: AsyncClient, params: Map) -> None:
        self._client = client
        self._params = params
        self._session: Optional[AsyncSession] = None

    async def _open(self) -> AsyncSession:
        self._session = AsyncSession(self._client, await self._client.session_open(**self._params))
        return self._session

    def __await__(self) -> Any:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncSession:
        return await self._open()

    async def __aexit__(self, *_: object) -> None:
        assert self._session is not None
        await self._session.close()


class AsyncClient(Methods[Awaitable[Map]]):
    """A client for asyncio, with one connection for all that runs at once.

    It takes what Client takes. Cancelling a task cancels its run.
    """

    def __init__(self, path: Optional[Path] = None, *, busy_s: float = 30.0,
                 on_parked: Optional[Callable[[Parked], None]] = None,
                 on_notice: Optional[Callable[[str, Map], None]] = None) -> None:
        self._path = socket_path(path)
        self._settings = Settings(busy_s, on_parked, self._end)
        self._on_notice = on_notice
        self._connection: Optional[Connection] = None
        self._connecting: Optional[Tuple[asyncio.AbstractEventLoop, asyncio.Lock]] = None
        self._calls: Dict[Tuple[Exchange, int], asyncio.Task[None]] = {}
        self._does: Dict[type, Callable[[Any], Awaitable[Any]]] = {
            does.Send: self._send, does.Next: self._next, does.Invoke: self._invoke, does.CallEnds: self._call_ends,
            does.Sleep: lambda effect: asyncio.sleep(effect.seconds),
        }

    # --- runs -------------------------------------------------------------------------------------

    @overload
    async def run(self, code: Union[str, bytes], language: Optional[str] = None, *, schema: Type[T],
                  **params: Unpack[RunParams]) -> Result[T]: ...

    @overload
    async def run(self, code: Union[str, bytes], language: Optional[str] = None, *,
                  schema: Union[Map, bool, None] = None, **params: Unpack[RunParams]) -> Result[Any]: ...

    async def run(self, code: Union[str, bytes], language: Optional[str] = None, *, schema: Any = None,
                  **params: Any) -> Result[Any]:
        """Runs a program and gives its result, whatever becomes of the program. See Client.run."""
        job = Job(code, language, schema, params)
        return job.result(await self._do(self._operation("run", job)))

    def stream(self, code: Union[str, bytes], language: Optional[str] = None, *, schema: Any = None,
               **params: Unpack[RunParams]) -> AsyncStream[Any]:
        """Runs a program and gives its events as they come, and then its result."""
        return self._stream(code, language, schema, {**params}, lambda result: result)

    async def start(self, code: Union[str, bytes], language: Optional[str] = None, *, schema: Any = None,
                    **params: Unpack[RunParams]) -> Union[Result[Any], Pending]:
        """Starts a run that goes on without this client; `wait` gives its result. See Client.start."""
        job = Job(code, language, schema, {**params})
        job.params["detach"] = True
        return job.result_or_pending(await self._do(self._operation("run", job)))

    async def check(self, code: Union[str, bytes], language: Optional[str] = None, *, schema: Any = None,
                    **params: Unpack[RunParams]) -> Check:
        """What `run` would say, without running or recording anything."""
        return does.check(await self.call("check", Job(code, language, schema, {**params}).params))

    async def put_blob(self, data: Union[str, bytes]) -> str:
        """Sends a content ahead, in parts, and gives its name for `files=[{"path": ..., "blob": name}]`."""
        sent: Map = {}
        for part in blob_parts(data):
            sent = await self.blob_put(**part)
        return str(sent["sha256"])

    async def wait(self, run_id: Union[str, Pending, Result[Any], None] = None, *, id: Optional[str] = None,
                   msgid: Optional[int] = None, timeout_ms: Optional[int] = None) -> Union[Result[Any], Pending]:
        """The result of a run when it has ended, or that it still goes on after `timeout_ms`.

        `run_id` may be what `start` gave: a result, if the run was over then, is given back.
        """
        if isinstance(run_id, Result):
            return run_id
        params = does.wait_params(run_id, id=id, msgid=msgid, timeout_ms=timeout_ms)
        return does.waited(run_id, await self.call("wait", params))

    async def runs_replay(self, run_id: str, *, deterministic: Optional[bool] = None, **params: Any) -> Replay:
        """Runs what the record holds again and compares. See Client.runs_replay."""
        job = does.replay_params({"run_id": run_id, "deterministic": deterministic, **params})
        return does.replay(await self._do(self._operation("runs.replay", job)))

    def session(self, language: str = "python", **params: Unpack[SessionParams]) -> _Opening:
        """Opens a session: `async with client.session() as session` or `session = await client.session()`."""
        return _Opening(self, {"language": language, **params})

    async def events(self, **params: Any) -> AsyncIterator[Map]:
        """The daemon's events as they happen, on a connection of their own. Takes `kinds`, `uid`, `agent`, `task`."""
        came: asyncio.Queue[Map] = asyncio.Queue()
        own = AsyncClient(self._path, on_notice=lambda method, event: came.put_nowait(event))
        async with own:
            await own.events_subscribe(**params)
            assert own._connection is not None
            lost = Exchange(0, "events.subscribe", False)
            own._connection.watch(lost)
            lost.wake = lambda: came.put_nowait({})
            while True:
                event = await came.get()
                if not event:
                    lost.result()
                yield event

    # --- how it is done ---------------------------------------------------------------------------

    async def call(self, method: str, params: Optional[Map] = None) -> Map:
        """Sends any method. The keys of params and answer are those of docs/PROTOCOL.md."""
        answer: Map = await self._do(Operation(self._settings, method, sent_params(params or {})))
        return answer

    async def close(self) -> None:
        """Closes the connection. Runs of this client that are in flight are cancelled."""
        if self._connection is not None:
            self._connection.close()
        await asyncio.sleep(0)  # asyncio closes the socket in its next round

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _operation(self, method: str, job: Job, streamed: bool = False) -> Operation:
        return Operation(self._settings, method, job.params, job.tools, job.on_parked, streamed)

    def _stream(self, code: Union[str, bytes], language: Optional[str], schema: Any, params: Dict[str, Any],
                seen: Callable[[Result[Any]], Result[Any]]) -> AsyncStream[Any]:
        job = Job(code, language, schema, params)
        job.params["stream"] = True
        return AsyncStream(self, self._operation("run", job, True), lambda raw: seen(job.result(raw)))

    async def _do(self, operation: Operation) -> Any:
        """The answer. Without events it is mostly there at the first try, which needs no steps: they cost more."""
        if operation.send.wants_events:
            return await self._run(operation.steps())
        exchange = await self._send(operation.send)
        try:
            while not exchange.done:
                await exchange.connection.next(exchange)
            return exchange.result()
        except (Busy, ConnectionLost) as error:
            pause = operation.pause(error)
            if pause is None:
                raise
        finally:
            does.cancel(exchange)
        return await self._run(operation.steps(pause))

    async def _run(self, steps: Steps[Any]) -> Any:
        while True:
            came = await self._advance(steps)
            if isinstance(came, does.Finished):
                return came.value

    async def _advance(self, steps: Steps[Any]) -> Union[Event, does.Finished]:
        """Carries out steps up to the next event, or to their end."""
        try:
            effect = steps.send(None)
            while not isinstance(effect, does.Emit):
                try:
                    answer = await self._does[type(effect)](effect)
                except BaseException as error:
                    effect = steps.throw(error)
                else:
                    effect = steps.send(answer)
            return effect.event
        except StopIteration as end:
            return does.Finished(end.value)

    async def _open(self) -> Connection:
        """The connection, which is made if there is none that can be used."""
        loop = asyncio.get_running_loop()
        if self._connecting is None or self._connecting[0] is not loop:
            self._connecting = loop, asyncio.Lock()
        async with self._connecting[1]:
            if self._connection is None or not self._connection.is_open():
                made = connect(self._path)
                made.setblocking(False)
                _, self._connection = await loop.create_connection(lambda: Connection(made, self._notice), sock=made)
            return self._connection

    async def _send(self, effect: does.Send) -> Exchange:
        connection = self._connection
        if connection is None or not connection.is_open():
            connection = await self._open()
        return connection.send(effect.method, effect.params, effect.wants_events)

    async def _next(self, effect: does.Next) -> Optional[Event]:
        exchange = effect.exchange
        while not exchange.ready:
            await exchange.connection.next(exchange)
        return exchange.events.popleft() if exchange.events else None

    async def _invoke(self, effect: does.Invoke) -> None:
        """The function runs beside the program's other calls: as a task, or in a thread if it is not async."""
        key = effect.exchange, effect.call.call
        self._calls[key] = asyncio.create_task(self._answer(effect))
        self._calls[key].add_done_callback(lambda _: self._calls.pop(key, None))

    async def _answer(self, effect: does.Invoke) -> None:
        tool, args = effect.tool, effect.call.args
        try:
            if tool.is_async:
                result = await tool.invoke(args)
            else:
                result = await asyncio.get_running_loop().run_in_executor(None, tool.invoke, args)
            answer = reply(effect.call, result)
        except Exception as error:
            answer = reply(effect.call, error=error)
        await self._reply(effect.exchange.connection, answer)

    async def _reply(self, connection: Connection, answer: Map) -> None:
        """Answers a call and hears what the daemon says to that. The task is cancelled when the run ends."""
        if connection.closed:
            return  # the run ended with it
        try:
            sent = connection.send("call.reply", answer, False)
            while not sent.done:
                await connection.next(sent)
            sent.result()
        except ConnectionLost:
            pass  # the run ends with it
        except Exception as error:
            connection.post("call.reply", reply_again(answer, error))

    async def _call_ends(self, effect: does.CallEnds) -> None:
        task = self._calls.get((effect.exchange, effect.call))
        if task is not None:
            task.cancel()

    def _end(self, exchange: Exchange) -> None:
        """Nobody waits for the calls of a run that is over."""
        for (of, _), task in list(self._calls.items()):
            if of is exchange:
                task.cancel()

    def _notice(self, method: str, params: Map) -> None:
        does.notice(self._settings, self._on_notice, method, params)
