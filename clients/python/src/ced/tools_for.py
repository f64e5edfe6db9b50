"""A ready tool `run_code` for the APIs of Anthropic and OpenAI, and for LangChain.

    with ced.tools_for.anthropic(session=True) as kit:
        message = api.messages.create(..., tools=kit.definitions)
        replies = kit.replies(message.content)  # the content of your next message

Neither API's package is imported. Blocks and calls may be objects of those packages or maps. LangChain's
is imported when its tools are asked for.
"""

from __future__ import annotations

import json
from typing import Any, List, Optional, Tuple, TypeVar

from .client import Client, Session
from .errors import BadRequest, TooLarge
from .events import Map
from .params import SessionParams
from .results import Result, Text, as_text

DESCRIPTION = ("Runs a {language} program in a sandbox without a network and gives what it printed. {memory} "
               "A program that fails is answered with the error and its line: correct it and call again.")
KEEPS = "Variables, imports and files of earlier calls are there."
FORGETS = "Each call begins anew: nothing of earlier calls is there."
Self = TypeVar("Self", bound="Owner")


def shortened(text: Text, characters: int) -> str:
    """The head and the tail of a long text, with the number of characters that were left out."""
    whole = as_text(text)
    if len(whole) <= characters:
        return whole
    head, tail = whole[:characters // 2], whole[len(whole) - characters // 2:]
    return f"{head}\n[... {len(whole) - len(head) - len(tail)} characters left out ...]\n{tail}"


def summary(result: Result[Any], characters: int = 8000) -> str:
    """What a model needs to know of a result, as text."""
    parts = [] if result.ok else [f"{result.outcome}: {result.reason}"]
    parts += [shortened(item.data.get("text/plain", ""), characters) for item in result.display if item.main]
    for name, text in (("stdout", result.stdout), ("stderr", result.stderr)):
        if text:
            parts.append(f"{name}:\n{shortened(text, characters)}")
    if result.policy is not None and result.outcome == "policy_denied":
        parts += [f"line {each.line}: {each.message}. {each.hint or ''}".strip() for each in result.policy.findings]
    return "\n".join(parts) or "The program ended well and printed nothing."


class Owner:
    """A client and a session that go with what has them. Use it as a context manager, or call close() at the end."""

    def __init__(self, client: Optional[Client]) -> None:
        self._client = client or Client()
        self._own = client is None
        self._session: Optional[Session] = None
        self.results: List[Result[Any]] = []  # of all calls, for the host

    def close(self) -> None:
        """Ends the session, and the connection if it was made here."""
        if self._session is not None:
            self._session.close()
            self._session = None
        if self._own:
            self._client.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Kit(Owner):
    """The tool and what answers its calls.

    Other params are those of `Client.run`. With `session`, the calls are cells of one session: params of
    `Client.session` go to it, `files` are there from its first cell on, and the rest go to each cell.
    """

    def __init__(self, client: Optional[Client] = None, *, language: str = "python", session: bool = False,
                 characters: int = 8000, **params: Any) -> None:
        super().__init__(client)
        self._language = language
        self._keeps = session
        self._characters = characters
        opens = SessionParams.__annotations__ if session else {}
        self._params = {name: value for name, value in params.items() if name in opens}
        self._cell = {name: value for name, value in params.items() if name not in opens}

    @property
    def _description(self) -> str:
        return DESCRIPTION.format(language=self._language, memory=KEEPS if self._keeps else FORGETS)

    @property
    def _schema(self) -> Map:
        return {"type": "object", "additionalProperties": False, "required": ["code"],
                "properties": {"code": {"type": "string", "description": f"the whole {self._language} program"}}}

    def run_code(self, arguments: Any) -> Tuple[str, bool]:
        """Answers a call: the text for the model, and whether the program ended well."""
        if not isinstance(arguments, dict) or set(arguments) != {"code"} or not isinstance(arguments["code"], str):
            return "The arguments must be a map with one key, code, which is the program as text.", False
        try:
            result = self._run(arguments["code"])
        except (BadRequest, TooLarge) as error:
            return str(error), False
        self.results.append(result)
        return summary(result, self._characters), result.ok

    def _run(self, code: str) -> Result[Any]:
        if not self._keeps:
            return self._client.run(code, self._language, **self._cell)
        cell = dict(self._cell)
        if self._session is None or self._session.ended:
            self._session = self._client.session(self._language, **self._params)
        elif self._session.state:
            cell.pop("files", None)  # they are there
        if self._session.language != "bash":
            cell.setdefault("display", True)
        return self._session.run(code, **cell)


def _listed(message: Any, name: str, wanted: str) -> List[Any]:
    """The list of that name in a message, or the message itself if it is one whose items have types of calls."""
    if isinstance(message, (list, tuple)):
        wrong = next((item for item in message if not (_of(item, "type") or _of(item, "function"))), None)
        if wrong is None and not any(_of(item, "type") == "function_call" for item in message):
            return list(message)
    elif _of(message, "role") == "assistant" or _of(message, name) is not None:
        found = _of(message, name)
        return [] if found is None or isinstance(found, str) else list(found)
    raise TypeError(f"replies() takes {wanted}; this is {type(message).__name__}: {str(message)[:200]}")


def _of(item: Any, name: str) -> Any:
    """A part of a map or of an object."""
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)


class anthropic(Kit):
    """For the Messages API."""

    @property
    def definitions(self) -> List[Map]:
        """What `tools` of the API takes."""
        return [{"name": "run_code", "description": self._description, "input_schema": self._schema}]

    def reply(self, block: Any) -> Map:
        """The tool_result for a block of the type tool_use."""
        text, ok = (self.run_code(_of(block, "input")) if _of(block, "name") == "run_code" else
                    (f"There is no tool {_of(block, 'name')!r}; there is run_code.", False))
        return {"type": "tool_result", "tool_use_id": _of(block, "id"), "content": text, "is_error": not ok}

    def replies(self, message: Any) -> List[Map]:
        """The content of the next message, for all calls in a message or its content; empty if it has none."""
        blocks = _listed(message, "content", "a message of the assistant, or its content")
        return [self.reply(block) for block in blocks if _of(block, "type") == "tool_use"]


class openai(Kit):
    """For Chat Completions, and for servers that speak the same."""

    @property
    def definitions(self) -> List[Map]:
        """What `tools` of the API takes."""
        return [{"type": "function",
                 "function": {"name": "run_code", "description": self._description, "parameters": self._schema}}]

    def reply(self, call: Any) -> Map:
        """The message with the role tool for one tool call."""
        function = _of(call, "function")
        if _of(function, "name") != "run_code":
            text = f"There is no tool {_of(function, 'name')!r}; there is run_code."
        else:
            text = self.run_code(_parsed(_of(function, "arguments")))[0]
        return {"role": "tool", "tool_call_id": _of(call, "id"), "content": text}

    def replies(self, message: Any) -> List[Map]:
        """The next messages, for all calls of a message of the assistant, or of its `tool_calls`; empty if it has none."""
        if _of(message, "choices"):
            message = _of(_of(message, "choices")[0], "message")
        calls = _listed(message, "tool_calls", "a message of the assistant, such as response.choices[0].message")
        return [self.reply(call) for call in calls]


class langchain(Kit):
    """For LangChain and LangGraph."""

    @property
    def tools(self) -> List[Any]:
        """What `bind_tools()` and agents take. The artifact of an answer is the Result, if the program was run."""
        from langchain_core.tools import StructuredTool

        def run_code(code: str) -> Tuple[str, Any]:
            before = len(self.results)
            text, _ = self.run_code({"code": code})
            return text, self.results[-1] if len(self.results) > before else None

        return [StructuredTool.from_function(run_code, name="run_code", description=self._description,
                                             response_format="content_and_artifact")]


def _parsed(arguments: Any) -> Any:
    try:
        return json.loads(arguments)
    except (TypeError, ValueError):
        return None  # which is answered as arguments of the wrong form
