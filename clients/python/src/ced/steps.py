"""What both clients do, written once, without a socket.

An operation is a generator. It yields what it needs (send this, wait for the next event, sleep) and
gets the answer; client.py and aio.py carry that out, one by blocking and one by awaiting. Here are
retries, repeats after a lost connection, cancelling, calls of tools and waiting approvals.
"""

from __future__ import annotations

import logging
import math
import time
import weakref
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Generator, Mapping, NamedTuple, Optional, TypeVar, Union

from .core import Exchange
from .errors import Busy, ConnectionLost, ValueRefused
from .events import Called, CallOver, Event, Map, Parked
from .files import files_param
from .methods import METHODS, sent_params
from .results import Check, Pending, Replay, Result, read
from .schemas import is_model, model_value, output_schema
from .session import SessionState
from .tools import Tool, missing, tools_by_name

log = logging.getLogger("ced")
T = TypeVar("T")


class Send(NamedTuple):
    """Send a request; the answer is its Exchange."""

    method: str
    params: Map
    wants_events: bool


class Next(NamedTuple):
    """Wait; the answer is the next event, or None when the request has its answer."""

    exchange: Exchange


class Sleep(NamedTuple):
    """Do nothing for so many seconds."""

    seconds: float


class Invoke(NamedTuple):
    """Call the function of a tool, and send what it gives."""

    exchange: Exchange
    tool: Tool
    call: Called


class CallEnds(NamedTuple):
    """Nobody waits for this call of a tool any more."""

    exchange: Exchange
    call: int


class Emit(NamedTuple):
    """Hand an event to the caller."""

    event: Event


class Finished(NamedTuple):
    """Not yielded: what a driver gives to its caller at the end."""

    value: Any


Effect = Union[Send, Next, Sleep, Invoke, CallEnds, Emit]
Steps = Generator[Effect, Any, T]


@dataclass
class Settings:
    """How patient a client is, who hears of runs that wait for a person, and its sessions by their ids."""

    busy_s: float = 30.0
    on_parked: Optional[Callable[[Parked], None]] = None
    on_end: Callable[[Exchange], None] = lambda exchange: None  # a request is over, or was given up
    sessions: weakref.WeakValueDictionary[str, SessionState] = field(default_factory=weakref.WeakValueDictionary)


CLOSED = ("the stream was closed before its run had ended, so the run was cancelled and has no result here; "
          "client.wait(stream.run_id) tells what became of it")
NO_TOOLS: Mapping[str, Tool] = {}
RECONNECT_S = 0.2


class Operation:
    """One request with all that belongs to it. `cancel` may be called from anywhere, also before it was sent."""

    def __init__(self, settings: Settings, method: str, params: Map, tools: Mapping[str, Tool] = NO_TOOLS,
                 on_parked: Optional[Callable[[Parked], None]] = None, streamed: bool = False) -> None:
        self._settings = settings
        self.send = Send(method, params, streamed or bool(tools) or on_parked is not None)
        self._tools = tools
        self._on_parked = on_parked or settings.on_parked
        self._patience = time.monotonic() + settings.busy_s
        self._heard = False  # an event of it came: a second run could not be told from the first
        self._exchange: Optional[Exchange] = None
        self._canceled = False
        self._lost = False  # with its connection, and it may be sent again
        if self.send.wants_events:
            params["announce"] = True

    @property
    def run_id(self) -> Optional[str]:
        """The run's name, as soon as the daemon has said it."""
        return self._exchange.run_id if self._exchange is not None else None

    def cancel(self) -> None:
        """Cancels it. A run then ends with the outcome `canceled`."""
        self._canceled = True
        if self._exchange is not None:
            cancel(self._exchange)

    def steps(self, pause: Optional[float] = None) -> Steps[Any]:
        """Sends it, again if the daemon was busy or the connection was lost and that is safe.

        With `pause` it was sent once, and is sent again after it.
        """
        while True:
            if pause is not None:
                yield Sleep(pause)
            try:
                return (yield from self._once())
            except (Busy, ConnectionLost) as error:
                pause = self.pause(error)
                if pause is None:
                    raise

    def pause(self, error: Union[Busy, ConnectionLost]) -> Optional[float]:
        """For how many seconds to wait before it is sent again, or None if it is not."""
        pause = None if self._canceled else self._safe_pause(error)
        if pause is None or time.monotonic() + pause > self._patience:
            return None
        log.info("%s is sent again in %.1f s: %s", self.send.method, pause, error)
        return pause

    def _safe_pause(self, error: Union[Busy, ConnectionLost]) -> Optional[float]:
        """Events of a run that the caller has seen are not followed by those of another.

        A run with an `id` is done once, however often it is sent.
        """
        if self._heard:
            return None
        if isinstance(error, Busy):
            return error.retry_after_s
        if error.sent:
            self._lost = METHODS.get(self.send.method, False) or "id" in self.send.params
        return RECONNECT_S if self._lost else None

    def _once(self) -> Steps[Any]:
        exchange: Exchange = yield self.send
        self._exchange = exchange
        try:
            if self._canceled:
                cancel(exchange)
            while True:
                event: Optional[Event] = yield Next(exchange)
                if event is None:
                    return exchange.result()
                self._heard = self._heard or event.type != "started"
                yield from self._take(exchange, event)
        finally:
            cancel(exchange)  # unless it is done: Ctrl-C, a cancelled task, an iteration that was given up
            self._settings.on_end(exchange)

    def _take(self, exchange: Exchange, event: Event) -> Steps[None]:
        if isinstance(event, Parked):
            self._parked(event)
        yield Emit(event)
        if isinstance(event, Called):
            yield Invoke(exchange, self._tools.get(event.tool) or missing(event.tool), event)
        elif isinstance(event, CallOver):
            yield CallEnds(exchange, event.call)

    def _parked(self, event: Parked) -> None:
        (self._on_parked or warn_parked)(event)


def cancel(exchange: Exchange) -> None:
    """Cancels a request that has no answer yet. The answer still comes, and nobody may wait for it."""
    if not exchange.done:
        exchange.connection.post("cancel", {"msgid": exchange.msgid})


def notice(settings: Settings, on_notice: Optional[Callable[[str, Map], None]], method: str, params: Map) -> None:
    """A notification that belongs to no request. What the client's callbacks raise is logged.

    The thread that read it may wait for something else, and must not be told.
    """
    try:
        session = settings.sessions.get(params.get("session", ""))
        if session is not None and method == "session.ended":
            session.ended = params.get("why")
        if method == "run.parked":
            event = Parked(params["run_id"], params["until_us"], params.get("policy") or {})
            (settings.on_parked or warn_parked)(event)
        elif on_notice is not None:
            on_notice(method, params)
    except Exception:
        log.exception("the callback of the client for %s has failed", method)


def warn_parked(event: Parked) -> None:
    """Says in the log that a run, or a call of a tool, waits for a person."""
    seconds = math.ceil(max(0.0, event.until_us / 1e6 - time.time()))
    left = f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"
    call, option = f", call {event.call} of {event.tool},", f" --call {event.call}"
    log.warning("run %s%s waits until a person approves it (policy %s), for at most %s: cectl approve %s%s; "
                "leaving cancels it", event.run_id, call if event.call else "", event.policy.get("name"), left,
                event.run_id, option if event.call else "")


FOREIGN = {
    "timeout": "limits={'wall_ms': MILLISECONDS} bounds the time",
    "wall_ms": "limits={'wall_ms': MILLISECONDS} bounds the time",
    "cpu_ms": "limits={'cpu_ms': MILLISECONDS} bounds the cpu time",
    "memory_bytes": "limits={'memory_bytes': BYTES} bounds the memory",
    "on_stdout": "client.stream(code) gives the output as it comes",
    "on_stderr": "client.stream(code) gives the output as it comes",
    "on_result": "client.stream(code, display=True) gives what is displayed as it comes",
}


def refuse_foreign(params: Map) -> None:
    """Params that other packages have: says what does that here."""
    for name in FOREIGN.keys() & params.keys():
        raise TypeError(f"run() has no {name}: {FOREIGN[name]}")


class Job:
    """One run: the params as they travel, and what its result becomes."""

    def __init__(self, code: Union[str, bytes], language: Optional[str], schema: Any, params: Dict[str, Any]) -> None:
        self._schema = schema
        self.on_parked: Optional[Callable[[Parked], None]] = None
        self.tools = NO_TOOLS
        self.params: Map = {"code": code}
        if params:
            self._add(params)
        if language is not None or "session" not in self.params:
            self.params["language"] = "python" if language is None else language
        if schema is not None:
            self.params["schema"] = output_schema(schema)

    def _add(self, params: Dict[str, Any]) -> None:
        refuse_foreign(params)
        self.on_parked = params.pop("on_parked", None)
        offered = params.pop("tools", None)
        self.params.update(sent_params(params))
        if "files" in self.params:
            self.params["files"] = files_param(self.params["files"])
        if offered:
            self.tools = tools_by_name(offered)
            self.params["tools"] = [each.param() for each in self.tools.values()]

    def result(self, raw: Map) -> Result[Any]:
        """The result, with the value as its model."""
        return result_of(raw, self._schema)

    def result_or_pending(self, raw: Map) -> Union[Result[Any], Pending]:
        """The answer to a detached run."""
        return result_or_pending(raw, self._schema)


def result_of(raw: Map, schema: Any) -> Result[Any]:
    """A result. If the schema is a model class, its value is an instance."""
    result: Result[Any] = read(Result, raw)
    if is_model(schema):
        result.value = _instance(result, schema) if result.ok else None
    return result


def _instance(result: Result[Any], model: Any) -> Any:
    try:
        return model_value(model, result.value)
    except ValueError as error:
        raise ValueRefused(f"the output of run {result.run_id} satisfies the schema of {model.__name__}, "
                           f"but the class refuses it: {error}", result) from error


def result_or_pending(raw: Map, schema: Any = None) -> Union[Result[Any], Pending]:
    """The answer to `wait` and to a detached `run`, which has no outcome yet if the run goes on."""
    if raw.get("outcome") is not None:
        return result_of(raw, schema)
    pending = read(Pending, raw)
    pending.model = schema if is_model(schema) else None
    return pending


Waited = Union[str, Pending, None]


def wait_params(run: Waited, **more: Any) -> Map:
    """The params of `wait` for a run that is named by its id, or by what `start` gave."""
    return {"run_id": run.run_id if isinstance(run, Pending) else run, **more}


def waited(run: Waited, raw: Map) -> Union[Result[Any], Pending]:
    """The answer to `wait`."""
    return result_or_pending(raw, run.model if isinstance(run, Pending) else None)


def replay_params(params: Dict[str, Any]) -> Job:
    """A replay is a run, too: it may wait for a person, and it calls tools."""
    job = Job("", "", None, params)
    del job.params["code"], job.params["language"]
    if job.params.pop("tools", None) is not None:
        job.params.setdefault("calls", "client")
    return job


def check(raw: Map) -> Check:
    """The answer to `check`."""
    return read(Check, raw)


def replay(raw: Map) -> Replay:
    """The answer to `runs.replay`."""
    return read(Replay, raw)
