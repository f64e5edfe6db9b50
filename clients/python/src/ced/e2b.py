"""The names that E2B's code interpreter made common, over sessions of ced.

    from ced.e2b import Sandbox

    with Sandbox() as sandbox:
        sandbox.run_code("x = 20")
        execution = sandbox.run_code("print('doubling'); x * 2", on_stdout=print)
        print(execution.text, execution.logs.stdout, execution.error)

A program that was written for that shape runs when its import line is changed. README.md has a table of
what differs.
"""

from __future__ import annotations

import asyncio
import base64
import datetime
import functools
import glob
import inspect
import json
import posixpath
import re
import shlex
import threading
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import IO, Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from . import charts
from .charts import Chart, chart_of
from .client import Client, Session, Stream
from .errors import CedError
from .events import Displayed, Event, Map, Output
from .files import files_param
from .results import Result as RunResult

DEFAULT_TIMEOUT_S = 300
RUNS_AT_ONCE = 32  # of one AsyncSandbox; more wait for a thread
TABLE = "application/vnd.ced.table+json"
LANGUAGES = {"js": "javascript", "sh": "bash"}
Starts = Callable[[Stream[Any]], Any]
TEMPLATES = {"base", "code-interpreter-v1"}  # of E2B, whose place the default takes
IGNORED = {"api_key", "access_token", "domain", "debug", "request_timeout", "proxy", "headers", "secure"}


class SandboxException(CedError):
    """All exceptions of this module. Errors of the protocol come as those of ced."""


class TimeoutException(SandboxException):
    """The code used up its time and was killed. What it did is undone if the state before it was kept."""


class NotFoundException(SandboxException):
    """There is no such file or context."""


class InvalidArgumentException(SandboxException):
    """The argument cannot be used here; the message says why."""


# --- what a run gives --------------------------------------------------------------------------


@dataclass
class OutputMessage:
    """A piece of output, for the callbacks."""

    line: str
    timestamp: int  # nanoseconds since 1970
    error: bool = False

    def __str__(self) -> str:
        return self.line


def _text(data: Map) -> Optional[str]:
    """The plain text. The quotes around a text that is all of the value are left out, as E2B does."""
    text: Optional[str] = data.get("text/plain")
    if text is not None and len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text


def _encoded(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _columns(table: Optional[Map]) -> Optional[Map]:
    if table is None:
        return None
    return {name: [row[at] for row in table["rows"]] for at, name in enumerate(table["columns"])}


_TYPES = {"html": "text/html", "markdown": "text/markdown", "svg": "image/svg+xml", "png": "image/png",
          "jpeg": "image/jpeg", "pdf": "application/pdf", "latex": "text/latex", "json": "application/json",
          "javascript": "application/javascript"}


class Result:
    """One thing that was shown, with an attribute for each form; pictures are base64, as E2B has them.

    It comes from the program: treat HTML, SVG and scripts as hostile.
    """

    html: Optional[str]
    markdown: Optional[str]
    svg: Optional[str]
    png: Optional[str]
    jpeg: Optional[str]
    pdf: Optional[str]
    latex: Optional[str]
    json: Any
    javascript: Optional[str]

    def __init__(self, is_main_result: bool, data: Map) -> None:
        self.is_main_result = is_main_result
        self.raw = data
        self.text = _text(data)
        self.data = _columns(data.get(TABLE))
        self.chart: Optional[Chart] = chart_of(data)
        self.extra = {kind: _encoded(value) for kind, value in data.items()
                      if kind not in (*_TYPES.values(), "text/plain", TABLE, charts.MEDIA_TYPE)}
        for name, kind in _TYPES.items():
            setattr(self, name, _encoded(data.get(kind)))

    def formats(self) -> List[str]:
        """The names of the forms that it has."""
        return [name for name in ("text", *_TYPES, "data", "chart") if getattr(self, name) is not None] + list(self.extra)

    def __getitem__(self, name: str) -> Any:
        return self.extra[name] if name in self.extra else getattr(self, name)

    def __repr__(self) -> str:
        return f"Result({self.text or 'Formats: ' + ', '.join(self.formats())})"


def _shown_by_notebooks(name: str) -> Callable[[Result], Any]:
    return lambda result: getattr(result, name)


for _name in _TYPES:
    setattr(Result, f"_repr_{_name}_", _shown_by_notebooks(_name))


@dataclass
class Logs:
    """What was printed, in pieces."""

    stdout: List[str] = field(default_factory=list)
    stderr: List[str] = field(default_factory=list)

    def to_json(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))


@dataclass
class ExecutionError:
    """Why the code failed: the exception, or the outcome's name where there was none."""

    name: str
    value: str
    traceback: str

    def to_json(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))


@dataclass
class Execution:
    """What a call of run_code gave."""

    results: List[Result] = field(default_factory=list)
    logs: Logs = field(default_factory=Logs)
    error: Optional[ExecutionError] = None
    execution_count: Optional[int] = None
    raw: Optional[RunResult[Any]] = field(default=None, repr=False)  # the result of ced

    @property
    def text(self) -> Optional[str]:
        """The value of the last expression."""
        return next((result.text for result in self.results if result.is_main_result), None)

    def to_json(self) -> str:
        """As JSON. `logs` and `error` in it are texts, which are JSON again: so E2B has them."""
        results: List[Map] = [{**{name: each[name] for name in each.formats()}, "text": each.text,
                    **({"chart": each.chart.to_dict()} if each.chart else {})} for each in self.results]
        return json.dumps({"results": results, "logs": self.logs.to_json(),
                           "error": self.error.to_json() if self.error else None})


def _error(result: RunResult[Any]) -> Optional[ExecutionError]:
    if result.ok:
        return None
    stderr = result.stderr if isinstance(result.stderr, str) else result.stderr.decode("utf-8", "replace")
    begins = stderr.rfind("Traceback (most recent call last):")
    traceback = stderr[begins:] if begins >= 0 else stderr
    if result.error is None:
        return ExecutionError(result.outcome, result.reason, traceback)
    return ExecutionError(result.error.type, result.error.message, traceback)


# --- files -------------------------------------------------------------------------------------


@dataclass
class EntryInfo:
    """A file or folder."""

    name: str
    type: str  # "file" or "dir"
    path: str
    size: int = 0


_LIST = """(lambda os, json: print(json.dumps([[each.name, each.is_dir(), each.stat().st_size]
    for each in sorted(os.scandir({folder!r}), key=lambda each: each.name)])))(__import__("os"), __import__("json"))"""
_REMOVE = """(lambda os, shutil, path: shutil.rmtree(path) if os.path.isdir(path) else os.remove(path))(
    __import__("os"), __import__("shutil"), {path!r})"""
_MAKE = '__import__("os").makedirs({path!r})'
_RENAME = '__import__("os").rename({old!r}, {new!r})'


class Files:
    """The files of a sandbox: below /work, the folder in which its code runs."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def write(self, path: str, data: Union[str, bytes, IO[Any]], **_: Any) -> EntryInfo:
        """Writes a file, in each context; its folders are made."""
        return self.write_files([{"path": path, "data": data}])[0]

    def write_files(self, files: Sequence[Mapping[str, Any]], **_: Any) -> List[EntryInfo]:
        """Writes several files."""
        items = files_param({_inside(each["path"]): each["data"] for each in files})
        self._sandbox._write(items)
        return [self._entry(item["path"], "file", len(item["data"])) for item in items]

    def read(self, path: str, format: str = "text", **_: Any) -> Any:
        """The content of a file of the default context: as "text", as "bytes", or as a "stream" of bytes."""
        name = _inside(path)
        result = self._sandbox._cell("", artifacts=[glob.escape(name)],
                                     limits={"artifact_bytes": self._sandbox._most["artifact_bytes"]})
        found = [artifact for artifact in result.artifacts if artifact.path == name]
        if not found:
            why = [each["reason"] for each in result.artifacts_skipped]
            raise NotFoundException(f"the file {path!r} cannot be read: {why[0] if why else 'it is not there'}")
        content = found[0].content
        if format == "stream":
            return iter([content])
        return bytearray(content) if format == "bytes" else found[0].text

    def list(self, path: str = ".", **_: Any) -> List[EntryInfo]:
        """The entries of a folder of the default context."""
        folder = _inside(path)
        entries = json.loads(self._do(_LIST.format(folder=_absolute(folder)), path).text)
        return [self._entry(posixpath.join(folder, name), "dir" if is_dir else "file", size)
                for name, is_dir, size in entries]

    def exists(self, path: str, **_: Any) -> bool:
        """Whether there is a file or folder."""
        parent, name = posixpath.split(_inside(path))
        try:
            return any(entry.name == name for entry in self.list(parent or "."))
        except NotFoundException:
            return False

    def get_info(self, path: str, **_: Any) -> EntryInfo:
        """What is known of a file or folder."""
        parent, name = posixpath.split(_inside(path))
        for entry in self.list(parent or "."):
            if entry.name == name:
                return entry
        raise NotFoundException(f"there is no {path!r} in the sandbox")

    def remove(self, path: str, **_: Any) -> None:
        """Removes a file, or a folder with all that is in it."""
        self._do(_REMOVE.format(path=_absolute(_inside(path))), path)

    def make_dir(self, path: str, **_: Any) -> bool:
        """Makes a folder, with those around it; False if it is there already."""
        if self.exists(path):
            return False
        self._do(_MAKE.format(path=_absolute(_inside(path))), path)
        return True

    def rename(self, old_path: str, new_path: str, **_: Any) -> EntryInfo:
        """Gives a file or folder another path."""
        self._do(_RENAME.format(old=_absolute(_inside(old_path)), new=_absolute(_inside(new_path))), old_path)
        return self.get_info(new_path)

    def _do(self, code: str, path: str) -> RunResult[Any]:
        result = self._sandbox._cell(code)
        if result.error is not None and result.error.type in ("FileNotFoundError", "NotADirectoryError"):
            raise NotFoundException(f"there is no {path!r} in the sandbox")
        if not result.ok:
            raise SandboxException(f"{path!r}: {result.reason}")
        return result

    @staticmethod
    def _entry(path: str, kind: str, size: int) -> EntryInfo:
        return EntryInfo(posixpath.basename(path), kind, _absolute(path), size)


def _named(language: Optional[str]) -> str:
    """A language as ced calls it."""
    name = (language or "python").lower()
    return LANGUAGES.get(name, name)


def _inside(path: str) -> str:
    """A path as ced has it: below /work, without leading to it."""
    normal = posixpath.normpath(posixpath.join("/work", path))
    if normal != "/work" and not normal.startswith("/work/"):
        raise InvalidArgumentException(f"the path {path!r} is not below /work, where the files of a sandbox are: "
                                       "use a relative path")
    return posixpath.relpath(normal, "/work")


def _absolute(inside: str) -> str:
    """The path as the code in the sandbox has it."""
    return posixpath.normpath(posixpath.join("/work", inside))


# --- commands ----------------------------------------------------------------------------------


@dataclass
class CommandResult:
    """What a command gave."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
    error: Optional[str] = None


class CommandExitException(SandboxException, CommandResult):
    """The command did not end with 0."""

    def __init__(self, result: CommandResult) -> None:
        SandboxException.__init__(self, f"the command ended with {result.exit_code}: {result.error or result.stderr}")
        CommandResult.__init__(self, **asdict(result))


class Commands:
    """Commands of bash, each in a subshell of the context of that language.

    It has the files that `files.write()` wrote, and not those of code in other contexts.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def run(self, cmd: str, background: Optional[bool] = None, envs: Optional[Dict[str, str]] = None,
            user: Optional[str] = None, cwd: Optional[str] = None, on_stdout: Optional[Callable[[str], Any]] = None,
            on_stderr: Optional[Callable[[str], Any]] = None, timeout: Optional[float] = 60,
            request_timeout: Optional[float] = None, on_start: Optional[Starts] = None) -> CommandResult:
        """Runs a command and gives what it printed; raises CommandExitException if it does not end with 0."""
        if background:
            raise InvalidArgumentException("commands.run cannot start something in the background: nothing runs between "
                                           "two calls. Run it in the same command as what needs it")
        enter = "" if cwd is None else f"cd {shlex.quote(_absolute(_inside(cwd)))} && "
        variables = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in (envs or {}).items())
        execution = self._sandbox.run_code(f"(\n{variables}{enter}{{\n{cmd}\n}}\n)", "bash", timeout=timeout,
                                           on_stdout=_line(on_stdout), on_stderr=_line(on_stderr), on_start=on_start)
        result = execution.raw
        assert result is not None
        gave = CommandResult(result.text, "".join(execution.logs.stderr), result.exit_code or 0)
        if result.ok:
            return gave
        gave.exit_code, gave.error = result.exit_code or 1, result.reason
        raise CommandExitException(gave)


def _line(listener: Optional[Callable[[str], Any]]) -> Optional[Callable[[OutputMessage], Any]]:
    """A callback of run_code for one that wants the text alone."""

    def hear(message: OutputMessage) -> Any:
        assert listener is not None
        return listener(message.line)

    return hear if listener else None


# --- the environment of one run ----------------------------------------------------------------

# For each language: code that sets variables and prints what they were, and code that sets them back.
_ENVS = {
    "python": ("""(lambda os, json, envs: (print(json.dumps({{name: os.environ.get(name) for name in envs}})),
    os.environ.update(envs)) and None)(__import__("os"), __import__("json"), {new!r})""",
               """(lambda os, envs: [os.environ.pop(name, None) if value is None else os.environ.update({{name: value}})
    for name, value in envs.items()] and None)(__import__("os"), __import__("json").loads({old!r}))"""),
    "javascript": ("""(() => {{ const envs = {new_json}; console.log(JSON.stringify(Object.fromEntries(
    Object.keys(envs).map((name) => [name, process.env[name] ?? null])))); Object.assign(process.env, envs); }})()""",
                   """(() => {{ for (const [name, value] of Object.entries({old}))
    if (value === null) delete process.env[name]; else process.env[name] = value; }})()"""),
    "bash": ("""declare -p {names} 2>/dev/null || :; export {assignments}""", """unset {names}; {old} :"""),
}


def _set_envs(language: str, envs: Dict[str, str]) -> str:
    assignments = " ".join(f"{name}={shlex.quote(value)}" for name, value in envs.items())
    return _ENVS[language][0].format(new=envs, new_json=json.dumps(envs), names=" ".join(envs), assignments=assignments)


def _reset_envs(language: str, envs: Dict[str, str], old: str) -> str:
    return _ENVS[language][1].format(old=old, names=" ".join(envs))


# --- the sandbox -------------------------------------------------------------------------------


@dataclass
class Context:
    """Code that runs in one context shares its variables. Each is a session of ced."""

    id: str
    language: str
    cwd: str = "/work"


@dataclass
class SandboxInfo:
    """What is known of a sandbox."""

    sandbox_id: str
    template_id: str
    started_at: datetime.datetime
    end_at: datetime.datetime
    metadata: Dict[str, str] = field(default_factory=dict)
    name: Optional[str] = None
    state: str = "running"


def _moment(us: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(us / 1e6, datetime.timezone.utc)


class Sandbox:
    """A place where code runs. Use it as a context manager, or call kill() at the end.

    Without `template`, or with one of E2B's own, Python is `python-data` where the host has it, else `python`.
    `template` is the name of another runtime of Python. `timeout` is in seconds: the sandbox ends when it was not used for
    that long. `envs` and `metadata` are its environment and its labels. `packages` and `network` are those
    of a session of ced. `socket` is the daemon's socket.
    """

    def __init__(self, template: Optional[str] = None, timeout: Optional[int] = None,
                 metadata: Optional[Dict[str, str]] = None, envs: Optional[Dict[str, str]] = None,
                 *, socket: Optional[str] = None, packages: Optional[Sequence[str]] = None,
                 network: Union[str, Map, None] = None, allow_internet_access: bool = False,
                 sandbox_id: Optional[str] = None, **options: Any) -> None:
        if set(options) - IGNORED:
            raise InvalidArgumentException(f"Sandbox() does not know {sorted(set(options) - IGNORED)}; it knows template, "
                                           f"timeout, metadata, envs, packages, network, socket, and ignores {sorted(IGNORED)}")
        self._client = Client(socket)
        self._params: Map = {"env": envs, "labels": metadata, "idle_ms": timeout * 1000 if timeout else None,
                             "packages": packages, "network": network}
        self._sessions: Dict[str, Session] = {}
        self._of_language: Dict[str, Context] = {}
        self._counts: Dict[str, int] = {}
        self._written: Dict[str, Map] = {}
        self._killed = False
        self._opening = threading.Lock()  # AsyncSandbox calls from several threads
        self.files = Files(self)
        self.commands = Commands(self)
        daemon = self._client.hello()
        runtimes = {each["name"] for each in daemon["runtimes"]}
        if template in TEMPLATES:
            template = None
        self._python = template or ("python-data" if "python-data" in runtimes else "python")
        self._most: Map = daemon["limits"]["most"]
        try:
            self._default = self._found(sandbox_id) if sandbox_id else self._context("python")
        except BaseException:
            self._client.close()
            raise

    @classmethod
    def create(cls, *args: Any, **kwargs: Any) -> Sandbox:
        """Makes a sandbox."""
        return cls(*args, **kwargs)

    @property
    def sandbox_id(self) -> str:
        """The id of the default context's session."""
        return self._default.id

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @classmethod
    def connect(cls, sandbox_id: str, timeout: Optional[int] = None, **options: Any) -> Sandbox:
        """The sandbox with this id, that this or another process of the same user has made: its default context."""
        return cls(sandbox_id=sandbox_id, timeout=timeout, **options)

    def is_running(self, **_: Any) -> bool:
        """Whether the default context is still there."""
        return not self._killed and self._listed(self._sessions[self._default.id].id) is not None

    def get_info(self, **_: Any) -> SandboxInfo:
        """What is known of it. `end_at` is when it ends if it is not used until then."""
        self._must_live()
        session = self._sessions[self._default.id]
        row = self._listed(session.id)
        if row is None:
            raise NotFoundException(f"the sandbox {self.sandbox_id} has ended")
        return SandboxInfo(self.sandbox_id, session.language, _moment(row["opened_us"]), _moment(row["expires_us"]),
                           dict(self._params["labels"] or {}))

    def _listed(self, id: str) -> Optional[Map]:
        rows = self._client.session_list()["sessions"]
        return next((row for row in rows if row["session"] == id), None)

    def _found(self, id: str) -> Context:
        """The context of a session that is open already."""
        row = self._listed(id)
        if row is None:
            raise NotFoundException(f"there is no sandbox {id}: it has ended, or another user made it")
        session = Session(self._client, {**row, "limits": {}})
        session.stands(row)
        self._sessions[id] = session
        self._of_language["python"] = Context(id, "python")
        return self._of_language["python"]

    def set_timeout(self, timeout: int, **_: Any) -> None:
        """For contexts that are opened from now on. Those that are open keep theirs, which each call begins anew."""
        self._params["idle_ms"] = timeout * 1000

    def kill(self, **_: Any) -> bool:
        """Ends all contexts, and the connection."""
        ended = [session.close() for session in self._sessions.values()]
        self._sessions.clear()
        self._killed = True
        self._client.close()
        return any(each is not None for each in ended)

    # --- contexts -----------------------------------------------------------------------------

    def create_code_context(self, cwd: Optional[str] = None, language: Optional[str] = None,
                            request_timeout: Optional[float] = None) -> Context:
        """Opens another context, with the files that were written so far and no variables."""
        context = self._opened(_named(language))
        if cwd is not None:
            self._enter(context, cwd)
        return context

    def list_code_contexts(self, **_: Any) -> List[Context]:
        """The contexts that are open."""
        return [Context(id, session.language) for id, session in self._sessions.items()]

    def remove_code_context(self, context: Union[Context, str], **_: Any) -> None:
        """Ends a context."""
        id = context if isinstance(context, str) else context.id
        self._session(id).close()
        del self._sessions[id]

    def restart_code_context(self, context: Union[Context, str], **_: Any) -> None:
        """Begins a context anew: it keeps its id and the files that were written, and loses its variables."""
        id = context if isinstance(context, str) else context.id
        self._session(id).close()
        self._sessions[id] = self._begun(self._sessions[id].language)

    def _opened(self, language: str) -> Context:
        session = self._begun(self._python if language == "python" else language)
        self._sessions[session.id] = session
        return Context(session.id, language)

    def _begun(self, runtime: str) -> Session:
        """A session in a state to which it can go back when the first code is killed."""
        self._must_live()
        params = {key: value for key, value in self._params.items() if value is not None}
        session = self._client.session(runtime, **params)
        session.run("", files=list(self._written.values()))
        return session

    def _context(self, language: str) -> Context:
        """The context of a language that code without a context runs in."""
        self._must_live()
        with self._opening:
            if language not in self._of_language:
                self._of_language[language] = self._opened(language)
            return self._of_language[language]

    def _must_live(self) -> None:
        if self._killed:
            raise NotFoundException("this sandbox is closed: kill(), or the end of its with block, has ended it; "
                                    "make a new one with Sandbox()")

    def _session(self, id: str) -> Session:
        self._must_live()
        if id not in self._sessions:
            raise NotFoundException(f"this sandbox has no context {id}")
        if self._sessions[id].ended:  # its process ended with the last code
            self._sessions[id] = self._begun(self._sessions[id].language)
        return self._sessions[id]

    def _enter(self, context: Context, cwd: str) -> None:
        folder = _absolute(_inside(cwd))
        if self._sessions[context.id].language == "bash":
            code = f"mkdir -p '{folder}' && cd '{folder}'"
        elif context.language == "python":
            code = f"__import__('os').makedirs({folder!r}, exist_ok=True); __import__('os').chdir({folder!r})"
        else:
            code = f"require('fs').mkdirSync({json.dumps(folder)}, {{recursive: true}}); process.chdir({json.dumps(folder)})"
        result = self._sessions[context.id].run(code)
        if not result.ok:
            raise SandboxException(f"the context cannot begin in {cwd!r}: {result.reason}")
        context.cwd = folder

    # --- code ---------------------------------------------------------------------------------

    def run_code(self, code: str, language: Optional[str] = None, context: Optional[Context] = None,
                 on_stdout: Optional[Callable[[OutputMessage], Any]] = None,
                 on_stderr: Optional[Callable[[OutputMessage], Any]] = None,
                 on_result: Optional[Callable[[Result], Any]] = None,
                 on_error: Optional[Callable[[ExecutionError], Any]] = None,
                 envs: Optional[Dict[str, str]] = None, timeout: Optional[float] = None,
                 request_timeout: Optional[float] = None,
                 on_start: Optional[Starts] = None) -> Execution:
        """Runs code and gives what it printed, showed and failed with. The callbacks hear of it as it happens.

        `on_start`, which E2B does not have, gets the stream of the run, which can be cancelled.
        """
        if language and context:
            raise InvalidArgumentException("give a language or a context, and not both")
        context = context or self._context(_named(language))
        session = self._session(context.id)
        old = self._setting(session, context, envs) if envs else ""
        execution = Execution()
        listeners = {"stdout": (execution.logs.stdout, on_stdout), "stderr": (execution.logs.stderr, on_stderr)}
        shows: Map = {} if session.language == "bash" else {"display": True}  # bash has no values
        try:
            with session.stream(code, limits=self._time(timeout), **shows) as stream:
                if on_start:
                    on_start(stream)
                for event in stream:
                    self._hear(event, execution, listeners, on_result)
                result = stream.result
        finally:
            if envs and not session.ended:
                session.run(_reset_envs(self._kind(context), envs, old))
        return self._ended(execution, result, on_error)

    def _kind(self, context: Context) -> str:
        """The language of a context whose runtime may have another name."""
        runtime = self._sessions[context.id].language
        return runtime if runtime in _ENVS else context.language

    def _setting(self, session: Session, context: Context, envs: Dict[str, str]) -> str:
        """Sets variables for the next code, and gives what they were."""
        wrong = [name for name in envs if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)]
        if wrong or self._kind(context) not in _ENVS:
            raise InvalidArgumentException(f"envs: {wrong[0]!r} is no name of a variable" if wrong else
                                           f"envs: not known how to set them in {context.language}")
        result = session.run(_set_envs(self._kind(context), envs))
        if not result.ok:
            raise SandboxException(f"the environment cannot be set: {result.reason}")
        return result.text

    @staticmethod
    def _hear(event: Event, execution: Execution, listeners: Mapping[str, Any],
              on_result: Optional[Callable[[Result], Any]]) -> None:
        if isinstance(event, Output) and event.text:
            pieces, listener = listeners[event.stream]
            pieces.append(event.text)
            if listener:
                listener(OutputMessage(event.text, time.time_ns(), event.stream == "stderr"))
        elif isinstance(event, Displayed):
            execution.results.append(Result(event.main, event.data))
            if on_result:
                on_result(execution.results[-1])

    def _ended(self, execution: Execution, result: RunResult[Any],
               on_error: Optional[Callable[[ExecutionError], Any]]) -> Execution:
        execution.raw = result
        if result.session is not None:
            self._counts[result.session.id] = self._counts.get(result.session.id, 0) + 1
            execution.execution_count = self._counts[result.session.id]
        if result.outcome in ("wall_limit", "cpu_limit"):
            raise TimeoutException(f"{result.reason} Give run_code a longer timeout, up to "
                                   f"{self._most['wall_ms'] // 1000} s on this host.")
        execution.error = _error(result)
        if execution.error is not None and on_error:
            on_error(execution.error)
        return execution

    def _time(self, timeout: Optional[float]) -> Map:
        """The limits for a timeout in seconds; 0 and None stand for E2B's default, and the host's highest bounds it."""
        wall_ms = int((timeout or DEFAULT_TIMEOUT_S) * 1000)
        return {"wall_ms": max(10, min(wall_ms, self._most["wall_ms"])),
                "cpu_ms": max(10, min(wall_ms, self._most["cpu_ms"]))}

    def _cell(self, code: str, **params: Any) -> RunResult[Any]:
        """Something for the files, in the default context."""
        result = self._session(self._default.id).run(code, **params)
        if result.outcome == "policy_denied":
            raise SandboxException(f"the policy of this host denies it: {result.reason}")
        return result

    def _write(self, items: List[Map]) -> None:
        self._must_live()
        for session in self._sessions.values():
            result = session.run("", files=items)
            if not result.ok:
                raise SandboxException(f"the files cannot be written: {result.reason}")
        self._written.update({item["path"]: item for item in items})


# --- for asyncio -------------------------------------------------------------------------------


class _Run:
    """Code that runs in a thread and can be cancelled from the loop."""

    def __init__(self) -> None:
        self._canceled = False
        self._stream: Optional[Stream[Any]] = None

    def starts(self, stream: Stream[Any]) -> None:
        """The thread is about to send it."""
        self._stream = stream
        if self._canceled:
            stream.cancel()

    def cancel(self) -> None:
        """Nobody waits for it any more."""
        self._canceled = True
        if self._stream is not None:
            self._stream.cancel()


def _in_loop(loop: asyncio.AbstractEventLoop, listener: Callable[[Any], Any]) -> Callable[[Any], None]:
    """A callback for a thread that calls the listener, which may be a coroutine, in the loop."""

    async def call(heard: Any) -> None:
        answer = listener(heard)
        if inspect.isawaitable(answer):
            await answer

    return lambda heard: asyncio.run_coroutine_threadsafe(call(heard), loop).result()


async def _cancelable(sandbox: Sandbox, threads: Executor, function: Callable[..., Any], *args: Any, **params: Any) -> Any:
    """Calls run_code or commands.run in a thread. When the task is cancelled, the daemon kills the code.

    The threads are not those of asyncio.to_thread: a callback may need one of these while the code waits for it.
    They end when the sandbox is killed.
    """
    sandbox._must_live()
    loop = asyncio.get_running_loop()
    heard = {name: _in_loop(loop, each) for name, each in params.items() if name.startswith("on_") and each}
    run = _Run()
    work = loop.run_in_executor(threads, functools.partial(function, *args, **{**params, **heard, "on_start": run.starts}))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        run.cancel()
        work.add_done_callback(lambda done: done.exception())  # nobody else asks for it
        raise


def _kill_unwanted(made: "asyncio.Future[Sandbox]") -> None:
    """The task that asked for it was cancelled: its sessions would stay open until they are idle."""
    if not made.cancelled() and made.exception() is None:
        threading.Thread(target=made.result().kill, daemon=True).start()


class _Awaited:
    """Each function of an object, to be awaited: a thread calls it."""

    def __init__(self, blocking: Any, threads: Executor) -> None:
        self._blocking = blocking
        self._threads = threads

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._blocking, name)
        if not callable(found):
            return found
        if name == "run":
            return functools.partial(_cancelable, self._blocking._sandbox, self._threads, found)  # of Commands
        return functools.partial(asyncio.to_thread, found)


class AsyncSandbox(_Awaited):
    """A sandbox for asyncio: `await AsyncSandbox.create()`. All functions of Sandbox are there, to be awaited.

    Callbacks may be coroutines. Cancelling a task cancels the code that it runs.
    """

    def __init__(self, blocking: Sandbox) -> None:
        super().__init__(blocking, ThreadPoolExecutor(RUNS_AT_ONCE, "ced.e2b"))
        self.files = _Awaited(blocking.files, self._threads)
        self.commands = _Awaited(blocking.commands, self._threads)

    @classmethod
    async def create(cls, *args: Any, **kwargs: Any) -> AsyncSandbox:
        """Makes a sandbox. Its arguments are those of Sandbox."""
        made = asyncio.get_running_loop().run_in_executor(None, functools.partial(Sandbox, *args, **kwargs))
        try:
            return cls(await asyncio.shield(made))
        except asyncio.CancelledError:
            made.add_done_callback(_kill_unwanted)
            raise

    @classmethod
    async def connect(cls, *args: Any, **kwargs: Any) -> AsyncSandbox:
        """The sandbox with this id. Its arguments are those of Sandbox.connect."""
        return cls(await asyncio.to_thread(functools.partial(Sandbox.connect, *args, **kwargs)))

    async def kill(self) -> Any:
        """Ends the sandbox and what still runs in it, as Sandbox.kill does."""
        answer = await asyncio.to_thread(self._blocking.kill)
        self._threads.shutdown(wait=False)
        return answer

    async def run_code(self, code: str, *args: Any, **params: Any) -> Execution:
        """Runs code, as Sandbox.run_code does."""
        execution: Execution = await _cancelable(self._blocking, self._threads, self._blocking.run_code, code, *args, **params)
        return execution

    async def __aenter__(self) -> AsyncSandbox:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()
