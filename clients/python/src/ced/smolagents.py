"""An executor for the CodeAgent of smolagents: its code runs in a session of ced, its tools run on this host.

    with ced.smolagents.Executor() as executor:
        agent = CodeAgent(tools=[...], model=model, executor=executor)
        agent.run("...")

smolagents is not imported: an agent takes any object with the functions of this one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional

from .client import Client
from .errors import CedError
from .events import Map
from .params import SessionParams
from .results import Result, as_text
from .tools import Tool
from .tools_for import Owner, summary

FINAL = "final_answer"
BEGINNING = '''
class FinalAnswer(BaseException):
    """The agent has its answer: the program ends here."""

def _bound(name, order, tools=tools):
    def call(*values, **named):
        if len(values) > len(order):
            raise TypeError(f"{name}() takes {len(order)} arguments: {', '.join(order)}")
        answer = getattr(tools, name)(**dict(zip(order, values)), **named)
        if name == "final_answer":
            raise FinalAnswer
        return answer
    call.__name__ = name
    return call
'''
ENDED = "The session ended: {why}. Variables and files of earlier programs are gone."
_TYPES = {"string", "boolean", "integer", "number", "array", "object", "null"}  # of JSON; others are not checked


@dataclass
class CodeOutput:
    """What an agent takes from an executor."""

    output: Any
    logs: str
    is_final_answer: bool


class Executor(Owner):
    """Runs the programs of one agent.

    Params of `Client.session` go to the session, the rest to each program. `characters` bounds what a model
    is told of an error. `results` has the results of all programs.
    """

    def __init__(self, client: Optional[Client] = None, *, characters: int = 8000, **params: Any) -> None:
        super().__init__(client)
        self._characters = characters
        self._params = {name: value for name, value in params.items() if name in SessionParams.__annotations__}
        self._cell = {name: value for name, value in params.items() if name not in SessionParams.__annotations__}
        self._tools: Dict[str, Tool] = {}
        self._variables: Map = {}
        self._answers: List[Any] = []

    def send_tools(self, tools: Mapping[str, Any]) -> None:
        """Tools, and agents that this one manages, which its programs may call."""
        self._tools.update({name: _tool(name, each, self._answers) for name, each in tools.items()})
        if self._session is not None:
            self._bind(tools)

    def send_variables(self, variables: Map) -> None:
        """Variables for its programs: what JSON can hold."""
        for name, value in variables.items():
            try:
                json.dumps(value)
            except (TypeError, ValueError) as error:
                raise TypeError(f"the variable {name} cannot be sent to ced, which takes what JSON can hold: {error}. "
                                "Give it as a file: Executor(files={...})") from error
        self._variables.update(variables)
        if self._session is not None and variables:
            self._set(variables)

    def __call__(self, code_action: str) -> CodeOutput:
        """Runs one program. What made it fail is raised, for the model to read."""
        self._answers.clear()
        result = self._run(code_action)
        self.results.append(result)
        ended = ENDED.format(why=result.session.why) if result.session is not None and result.session.why else ""
        if self._answers and result.error is not None and result.error.type == "FinalAnswer":
            return CodeOutput(self._answers[-1], as_text(result.stdout), True)
        if not result.ok:
            raise RuntimeError("\n".join(filter(None, (summary(result, self._characters), ended))))
        shown = [item.data.get("text/plain") for item in result.display if item.main]
        return CodeOutput(shown[-1] if shown else None, as_text(result.stdout), False)

    def _run(self, code: str) -> Result[Any]:
        cell = dict(self._cell)
        if self._session is None or self._session.ended:
            self._session = self._client.session(**self._params)
            self._do(BEGINNING, tools=self._tools, **({"files": cell.pop("files")} if "files" in cell else {}))
            self._bind(self._tools)
            if self._variables:
                self._set(self._variables)
        cell.pop("files", None)  # they are there
        return self._session.run(code, display=True, tools=self._tools, **cell)

    def _bind(self, tools: Mapping[str, Any]) -> None:
        orders = {name: list(self._tools[name].params["properties"]) for name in tools}
        self._do(f"for _name, _order in {orders!r}.items(): globals()[_name] = _bound(_name, _order)")

    def _set(self, variables: Map) -> None:
        self._do(f"import json as _json\nglobals().update(_json.loads({json.dumps(variables)!r}))")

    def _do(self, code: str, **params: Any) -> None:
        assert self._session is not None
        result = self._session.run(code, **params)
        if not result.ok:
            raise CedError(f"the session for the agent could not be prepared: {summary(result)}")

    def cleanup(self) -> None:
        """What an agent calls at its end."""
        self.close()


def _tool(name: str, given: Any, answers: List[Any]) -> Tool:
    """A tool of smolagents, with its `description` and `inputs`, as one of ced."""

    def call(**values: Any) -> Any:
        return given(**values)

    def answer(**values: Any) -> None:
        answers.append(given(**values))

    inputs = {each: about for each, about in (given.inputs or {}).items()}
    schema = {"type": "object", "properties": {each: _schema(about) for each, about in inputs.items()},
              "required": [each for each, about in inputs.items() if not about.get("nullable")]}
    function: Callable[..., Any] = answer if name == FINAL else call
    return Tool(function, name, str(given.description or ""), schema)


def _schema(about: Map) -> Map:
    """What an input of a tool may be: `type` is a word or a list of words."""
    words = about.get("type", "any")
    words = [words] if isinstance(words, str) else list(words)
    schema: Map = {"description": str(about.get("description", ""))}
    if set(words) <= _TYPES:
        schema["type"] = words + ["null"] * (bool(about.get("nullable")) and "null" not in words)
    return schema
