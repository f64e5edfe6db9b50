"""Results as dataclasses.

Each has `raw`, the map as the daemon sent it: a daemon that is newer than this client may send keys that
no field has. An optional key with nothing to say is None here.
"""

from __future__ import annotations

import pathlib
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Callable, Dict, Generic, List, Optional, Type, TypeVar, Union

from .events import Map

T = TypeVar("T")
Text = Union[str, bytes]
Bytes = bytes  # a field of Artifact is called bytes, as in the protocol

class _Plan:
    """How a class is made of a map: what reads its keys, and what makes a value where a key is absent.

    All other defaults are the class's own attributes.
    """

    def __init__(self, cls: Any) -> None:
        own = [each for each in fields(cls) if each.name != "raw"]
        self.readers: Dict[str, Optional[Callable[[Any], Any]]] = {each.name: each.metadata.get("read") for each in own}
        self.factories = [(each.name, each.default_factory) for each in own if each.default_factory is not MISSING]


_plans: Dict[type, _Plan] = {}


def read(cls: Type[T], raw: Map) -> T:
    """Makes a dataclass of a map of the daemon. It fills in the fields itself: a result has more than forty."""
    plan = _plans.get(cls)
    if plan is None:
        plan = _plans[cls] = _Plan(cls)
    made = cls.__new__(cls)
    values = made.__dict__
    values["raw"] = raw
    readers = plan.readers
    for name, value in raw.items():
        if value is not None and name in readers:
            reader = readers[name]
            values[name] = value if reader is None else reader(value)
    for name, factory in plan.factories:
        if name not in values:
            values[name] = factory()
    return made


def _one(cls: Any) -> Any:
    return field(default=None, metadata={"read": lambda raw: read(cls, raw)})


def _many(cls: Any) -> Any:
    return field(default_factory=list, metadata={"read": lambda raws: [read(cls, raw) for raw in raws]})


def as_bytes(data: Text) -> bytes:
    """The bytes of what came as text where it is UTF-8."""
    return data.encode() if isinstance(data, str) else data


def as_text(data: Text) -> str:
    """The text of what came as bytes where it is not UTF-8; what is no text becomes U+FFFD."""
    return data if isinstance(data, str) else data.decode("utf-8", "replace")


@dataclass
class ProgramError:
    """The exception or syntax error of a program, with its place."""

    type: str = ""
    message: str = ""
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    frames: List[Map] = field(default_factory=list)
    text: Optional[str] = None
    syntax: Optional[bool] = None
    raw: Map = field(default_factory=dict, repr=False)


@dataclass
class Finding:
    """What a rule of the policy found, and where."""

    rule: str = ""
    severity: str = ""
    line: int = 0
    column: int = 0
    text: str = ""
    message: str = ""
    hint: Optional[str] = None
    raw: Map = field(default_factory=dict, repr=False)


@dataclass
class Verdict:
    """What the policy said."""

    name: str = ""
    decision: str = ""
    digest: Optional[str] = None
    findings: List[Finding] = _many(Finding)
    raw: Map = field(default_factory=dict, repr=False)


@dataclass
class Artifact:
    """A file that the run left and that one of the globs in `artifacts` named."""

    path: str = ""
    bytes: int = 0
    sha256: str = ""
    mime: Optional[str] = None
    mode: int = 0o644
    data: Text = b""
    truncated: bool = False
    raw: Map = field(default_factory=dict, repr=False)

    @property
    def content(self) -> Bytes:
        """The content as bytes."""
        return as_bytes(self.data)

    @property
    def text(self) -> str:
        """The content as text."""
        return as_text(self.data)

    def save(self, folder: Union[str, pathlib.PurePath]) -> pathlib.Path:
        """Writes it below a folder, under its own path, and gives the path.

        The path comes from the program. One that leads out of the folder is refused, over a symbolic
        link as well.
        """
        root = pathlib.Path(folder).resolve()
        target = root.joinpath(self.path).resolve()
        if root not in target.parents:
            raise ValueError(f"the artifact {self.path!r} would be written outside of {root}: save its `content` "
                             "under a path of your own")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(self.content)
        return target


@dataclass
class Display:
    """One thing that the program showed, in one or more media types. It comes from the program: it may be hostile."""

    main: bool = False
    data: Map = field(default_factory=dict)
    raw: Map = field(default_factory=dict, repr=False)


@dataclass
class Cell:
    """Where a session stands after one of its cells."""

    id: str = ""
    cell: int = 0
    state: Optional[int] = None
    kept: List[int] = field(default_factory=list)
    went_back: Optional[int] = None
    why: Optional[str] = None
    raw: Map = field(default_factory=dict, repr=False)


@dataclass
class Result(Generic[T]):
    """How one program ended. docs/PROTOCOL.md explains each key."""

    run_id: str = ""
    outcome: str = ""
    ok: bool = False
    reason: str = ""
    ran: str = "unknown"
    exit_code: Optional[int] = None
    signal: Optional[str] = None
    stdout: Text = ""
    stderr: Text = ""
    stdout_tail: Optional[Text] = None
    stderr_tail: Optional[Text] = None
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    truncated: List[str] = field(default_factory=list)
    value: Optional[T] = None
    display: List[Display] = _many(Display)
    error: Optional[ProgramError] = _one(ProgramError)
    output_errors: List[Map] = field(default_factory=list)
    evidence: Optional[Map] = None
    policy: Optional[Verdict] = _one(Verdict)
    artifacts: List[Artifact] = _many(Artifact)
    artifacts_skipped: List[Map] = field(default_factory=list)
    session: Optional[Cell] = _one(Cell)
    calls: Optional[Map] = None
    connections: Optional[List[Map]] = None
    refused_calls: Optional[List[Map]] = None
    files: Optional[Map] = None
    metrics: Map = field(default_factory=dict, repr=False)
    limits: Map = field(default_factory=dict, repr=False)
    budget: Optional[Map] = None
    approval: Optional[Map] = None
    runtime: Optional[Map] = field(default=None, repr=False)
    code_hash: Optional[str] = field(default=None, repr=False)
    input_hash: Optional[str] = field(default=None, repr=False)
    attempt: Optional[int] = None
    masks: Optional[int] = None
    cached: bool = False
    cached_from: Optional[str] = None
    replay_of: Optional[str] = None
    trace: Optional[List[Map]] = field(default=None, repr=False)
    raw: Map = field(default_factory=dict, repr=False)

    @property
    def text(self) -> str:
        """stdout as text."""
        return as_text(self.stdout)

    def artifact(self, path: str) -> Artifact:
        """The artifact with this path."""
        for artifact in self.artifacts:
            if artifact.path == path:
                return artifact
        raise KeyError(f"the run has no artifact {path!r}; it has {[each.path for each in self.artifacts]}")

    def save_artifacts(self, folder: Union[str, pathlib.PurePath]) -> List[pathlib.Path]:
        """Writes all artifacts below a folder and gives their paths."""
        return [artifact.save(folder) for artifact in self.artifacts]


@dataclass
class Pending:
    """A run that has not ended: `state` is `running` or `parked`. `wait` takes it and gives its result."""

    run_id: str = ""
    state: str = "running"
    until_us: Optional[int] = None
    model: Any = field(default=None, repr=False, compare=False)  # of `schema`, for the value of the result
    raw: Map = field(default_factory=dict, repr=False)


@dataclass
class Check:
    """What `run` would answer before anything runs: `would` is `run`, `ask`, `deny` or `refuse`."""

    would: str = ""
    contract: Optional[Map] = None
    contract_errors: List[Map] = field(default_factory=list)
    code_hash: Optional[str] = None
    policy: Optional[Verdict] = _one(Verdict)
    raw: Map = field(default_factory=dict, repr=False)


@dataclass
class Replay:
    """A run that was run again, compared with its record."""

    replay_of: str = ""
    same: bool = False
    differs: List[Map] = field(default_factory=list)
    circumstances: List[Map] = field(default_factory=list)
    masks: Optional[int] = None
    fingerprint: str = ""
    recorded_fingerprint: str = ""
    result: Result[Any] = _one(Result)
    raw: Map = field(default_factory=dict, repr=False)
