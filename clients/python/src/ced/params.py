"""The params of `run`, by name and type, for editors and type checkers. At run time nothing looks at them."""

from __future__ import annotations

from typing import Any, Callable, Sequence, TypedDict, Union

from .events import Map, Parked
from .files import Files
from .tools import Tools


class CellParams(TypedDict, total=False):
    """What a cell of a session may ask for. docs/PROTOCOL.md says what each one means."""

    id: str
    run_id: str
    entrypoint: str
    args: Sequence[str]
    stdin: Union[str, bytes]
    input: Any
    files: Files
    limits: Map
    on_output_limit: str
    artifacts: Sequence[str]
    from_: int
    atomic: bool
    output: str
    task: str
    labels: Map
    trace: str
    tools: Tools
    tools_as: str
    display: bool
    announce: bool
    on_parked: Callable[[Parked], None]


class RunParams(CellParams, total=False):
    """What a run may ask for. docs/PROTOCOL.md says what each one means."""

    env: Map
    packages: Sequence[str]
    session: str
    policy: str
    network: Union[str, Map]
    secrets: Sequence[str]
    agent: str
    cache: str
    deterministic: bool


class SessionParams(TypedDict, total=False):
    """What a session may ask for when it is opened."""

    policy: str
    env: Map
    secrets: Sequence[str]
    packages: Sequence[str]
    network: Union[str, Map]
    limits: Map
    agent: str
    task: str
    labels: Map
    states: int
    idle_ms: int
