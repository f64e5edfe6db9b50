"""What happens while a run goes on, one class for each kind of event."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Optional, Union

Map = Dict[str, Any]


@dataclass(frozen=True)
class Started:
    """The daemon has accepted the request; the run has this name."""

    run_id: str
    type: str = "started"


@dataclass(frozen=True)
class Output:
    """A piece of stdout or stderr: its bytes, and as much text as is whole with it."""

    run_id: str
    stream: str
    offset: int
    data: bytes
    text: str
    type: str = "output"


@dataclass(frozen=True)
class Displayed:
    """One thing that the program showed, in one or more media types. It comes from the program: it may be hostile."""

    run_id: str
    main: bool
    data: Map
    type: str = "display"


@dataclass(frozen=True)
class Parked:
    """The run waits until a person approves it, or one `call` of a `tool` does, which the rule asks about."""

    run_id: str
    until_us: int
    policy: Map
    call: Optional[int] = None
    tool: Optional[str] = None
    rule: Optional[str] = None
    type: str = "parked"


@dataclass(frozen=True)
class Called:
    """The program calls a tool. The client answers with the tool's function."""

    run_id: str
    call: int
    tool: str
    args: Map
    deadline_us: int
    type: str = "call"


@dataclass(frozen=True)
class CallOver:
    """Nobody waits for this call any more; `why` says the reason."""

    run_id: str
    call: int
    why: str
    type: str = "call_over"


Event = Union[Started, Output, Displayed, Parked, Called, CallOver]


def _decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")("replace")


@dataclass
class EventReader:
    """Makes events of the notifications about one run. It keeps the characters that are not whole yet."""

    _decoders: Dict[str, codecs.IncrementalDecoder] = field(default_factory=dict)

    def output(self, params: Map) -> Output:
        """A piece of output; `text` ends at a whole character."""
        data = params["data"].encode() if isinstance(params["data"], str) else params["data"]
        decoder = self._decoders.setdefault(params["stream"], _decoder())
        return Output(params["run_id"], params["stream"], params["offset"], data, decoder.decode(data))

    def event(self, method: str, params: Map) -> Event:
        """The event for a notification."""
        return _EVENTS[method](self, params)


_EVENTS: Dict[str, Callable[[EventReader, Map], Event]] = {
    "run.started": lambda _, params: Started(params["run_id"]),
    "run.output": EventReader.output,
    "run.display": lambda _, params: Displayed(params["run_id"], params["main"], params["data"]),
    "run.parked": lambda _, params: Parked(params["run_id"], params["until_us"], params.get("policy") or {}),
    "run.call_asked": lambda _, params: Parked(params["run_id"], params["until_us"], {"name": params["policy"]},
                                               params["call"], params["tool"], params.get("rule")),
    "run.call": lambda _, params: Called(params["run_id"], params["call"], params["tool"], params["args"],
                                         params.get("deadline_us", 0)),
    "run.call_over": lambda _, params: CallOver(params["run_id"], params["call"], params["why"]),
}


def is_event(method: str) -> bool:
    """Whether a notification is about one run."""
    return method in _EVENTS
