"""A client of ced, the daemon that runs programs of language-model agents in jailed workers.

    import ced

    result = ced.run("print(6 * 7)")
    print(result.outcome, result.stdout)

A program that fails, is refused by the policy or is killed is a result. Exceptions are for requests
that have no result. README.md has more, docs/PROTOCOL.md of ced explains every param and key.
"""

import importlib
from typing import Any

from .aio import AsyncClient, AsyncSession, AsyncStream
from .client import Client, Session, Stream, run
from .errors import (BadRequest, Busy, CedError, Conflict, ConnectionLost, Draining, Forbidden, Internal, NotFound,
                     ProtocolError, TooLarge, ToolError, UnknownMethod, ValueRefused)
from .events import Called, CallOver, Displayed, Event, Output, Parked, Started
from .results import (Artifact, Cell, Check, Display, Finding, Pending, ProgramError, Replay, Result, Verdict)
from .tools import Tool, tool

__all__ = [
    "Artifact", "AsyncClient", "AsyncSession", "AsyncStream", "BadRequest", "Busy", "Called", "CallOver", "CedError",
    "Cell", "Check", "Client", "Conflict", "ConnectionLost", "Display", "Displayed", "Draining", "Event", "Finding",
    "Forbidden", "Internal", "NotFound", "Output", "Parked", "Pending", "ProgramError", "ProtocolError", "Replay",
    "Result", "Session", "Started", "Stream", "Tool", "TooLarge", "ToolError", "UnknownMethod", "ValueRefused",
    "Verdict", "run", "tool",
]


def __getattr__(name: str) -> Any:
    """`ced.e2b`, `ced.smolagents` and `ced.tools_for` are imported when they are first used."""
    if name in ("e2b", "smolagents", "tools_for"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
