"""Functions of the host that a program may call.

    @ced.tool
    def weather(city: str) -> float:
        "The temperature in a city, in degrees Celsius."
        return degrees[city]

    ced.run("print(tools.weather(city='Oslo'))", tools=[weather])

The schemas come from the type hints, the description from the docstring. A function may be async. What
it raises is what the program gets as `tools.ToolError`.
"""

from __future__ import annotations

import inspect
import typing
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Union, overload

from .errors import ProtocolError, ToolError
from .events import Called, Map
from .schemas import Schema, json_of, rooted, schema_of, value_of

MESSAGE_CHARACTERS = 8192  # of an error that a program gets


@dataclass
class Tool:
    """A function with what the daemon must know of it. It can be called like the function."""

    function: Callable[..., Any]
    name: str
    description: str = ""
    params: Schema = True
    result: Schema = None
    timeout_ms: Optional[int] = None
    calls: Optional[int] = None
    effects: Optional[bool] = None
    hints: Dict[str, Any] = field(default_factory=dict)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def invoke(self, args: Map) -> Any:
        """Calls the function with arguments as they came, made into the types that it wants."""
        return self.function(**{name: value_of(self.hints.get(name, Any), value) for name, value in args.items()})

    @property
    def is_async(self) -> bool:
        """Whether its calls are awaited."""
        return inspect.iscoroutinefunction(inspect.unwrap(self.function))

    def param(self) -> Map:
        """The tool as an item of the param `tools`."""
        described = {"name": self.name, "description": self.description or None, "input_schema": self.params,
                     "output_schema": self.result, "timeout_ms": self.timeout_ms, "calls": self.calls,
                     "effects": self.effects}
        return {key: value for key, value in described.items() if value is not None}


@overload
def tool(function: Callable[..., Any]) -> Tool: ...


@overload
def tool(*, name: Optional[str] = None, description: Optional[str] = None, params: Schema = None,
         result: Schema = None, timeout_ms: Optional[int] = None, calls: Optional[int] = None,
         effects: Optional[bool] = None) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(function: Optional[Callable[..., Any]] = None, *, name: Optional[str] = None,
         description: Optional[str] = None, params: Schema = None, result: Schema = None,
         timeout_ms: Optional[int] = None, calls: Optional[int] = None, effects: Optional[bool] = None) -> Any:
    """Makes a tool of a function, as a decorator with or without arguments.

    `params` and `result` are JSON Schemas instead of those that the type hints give. `effects=True`
    says that the function changes something: then each call is on the disk before it is made.
    """

    def made(function: Callable[..., Any]) -> Tool:
        hints = _hints(function)
        given = params if params is not None else _params_schema(function, hints)
        gives = result if result is not None else rooted(schema_of(hints["return"])) if "return" in hints else None
        about = description if description is not None else inspect.getdoc(function) or ""
        return Tool(function, name or function.__name__, about, given, None if gives is True else gives, timeout_ms,
                    calls, effects, hints if params is None else {})

    return made if function is None else made(function)


def _hints(function: Callable[..., Any]) -> Dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError) as error:  # TypeError: a hint of a newer Python than this one
        raise TypeError(f"a type hint of the tool {function.__name__} is not known where it was defined: {error}. "
                        "Give the schemas: @ced.tool(params=..., result=...)") from error


def _params_schema(function: Callable[..., Any], hints: Dict[str, Any]) -> Map:
    properties: Map = {}
    required: List[str] = []
    others: Schema = False
    for param in inspect.signature(function).parameters.values():
        if param.kind is param.VAR_KEYWORD:
            others = schema_of(hints.get(param.name, Any))
        elif param.kind is param.VAR_POSITIONAL or param.kind is param.POSITIONAL_ONLY:
            raise TypeError(f"the tool {function.__name__} takes {param.name!r} by position only: programs call tools "
                            "with named arguments")
        else:
            properties[param.name] = schema_of(hints.get(param.name, Any))
            if param.default is param.empty:
                required.append(param.name)
    schema: Map = rooted({"type": "object", "properties": properties, "required": required, "additionalProperties": others})
    return schema


Tools = Union[Iterable[Union[Tool, Callable[..., Any]]], Mapping[str, Union[Tool, Callable[..., Any]]]]


def tools_by_name(tools: Tools) -> Dict[str, Tool]:
    """The tools of a run; plain functions become tools. A mapping gives the names, also of decorated functions."""
    if not isinstance(tools, (Iterable, Mapping)) or isinstance(tools, (str, bytes)):
        raise TypeError(f"tools is {tools!r}: give a list of functions, or a dict of names and functions")
    given = list(tools.values() if isinstance(tools, Mapping) else tools)
    wrong = next((each for each in given if not callable(each)), None)
    if wrong is not None:
        raise TypeError(f"the tool {wrong!r} is no function")
    if isinstance(tools, Mapping):
        return {name: replace(each, name=name) if isinstance(each, Tool) else tool(name=name)(each)
                for name, each in tools.items()}
    nameless = next((each for each in given if getattr(each, "__name__", "") == "<lambda>"), None)
    if nameless is not None:
        raise TypeError("a lambda has no name to be called by: give the tools as a dict, {name: function}")
    made = [each if isinstance(each, Tool) else tool(each) for each in given]
    by_name = {each.name: each for each in made}
    if len(by_name) < len(made):
        names = [each.name for each in made]
        raise ValueError(f"two tools have the same name: {sorted({name for name in names if names.count(name) > 1})}")
    return by_name


def missing(name: str) -> Tool:
    """What answers a call of a tool that this client does not have."""

    def function(**_: Any) -> None:
        raise ToolError(f"the client has no tool {name}")

    return Tool(function, name)


def reply(call: Called, result: Any = None, error: Optional[BaseException] = None) -> Map:
    """The params of `call.reply`."""
    answer: Map = {"run_id": call.run_id, "call": call.call}
    if error is None:
        answer["result"] = json_of(result)
        return answer
    answer["error"] = {"message": _message(error)}
    if isinstance(error, ToolError) and error.data is not None:
        try:
            answer["error"]["data"] = json_of(error.data)
        except Exception as why:
            return reply_again(answer, why)
    return answer


def reply_again(answer: Map, why: BaseException) -> Map:
    """The params of `call.reply` when `answer` could not be sent or was refused: the program hears why."""
    reason = why.message if isinstance(why, ProtocolError) else _message(why)
    told = f"the tool's result cannot be sent: {reason}"
    if "error" in answer:
        told = f"{answer['error']['message'][:MESSAGE_CHARACTERS // 2]} (the data of this error cannot be sent: {reason})"
    return {"run_id": answer["run_id"], "call": answer["call"], "error": {"message": told[:MESSAGE_CHARACTERS]}}


def _message(error: BaseException) -> str:
    """What an exception says, as a text that can be sent: half a character of UTF-16 becomes an escape."""
    try:
        text = str(error.message) if isinstance(error, ToolError) else f"{type(error).__name__}: {error}"
    except Exception:  # its __str__ fails
        text = type(error).__name__
    return text.encode("utf-8", "backslashreplace").decode()[:MESSAGE_CHARACTERS]
