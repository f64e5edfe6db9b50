"""What can go wrong between a client and the daemon.

A program that fails, is refused by the policy or is killed is a result and raises nothing.
"""

from __future__ import annotations

from typing import Any, Dict, Optional


class CedError(Exception):
    """All errors of this package."""


class ProtocolError(CedError):
    """The daemon answered a request with an error.

    `code` is for programs, `message` is a sentence for people, and `data` says where and why.
    Each code has a class of its own below; a code that this client does not know comes as this one.
    """

    code = ""

    def __init__(self, error: Dict[str, Any]) -> None:
        self.code = str(error.get("code", ""))
        self.message = str(error.get("message", ""))
        self.data: Dict[str, Any] = error.get("data") or {}
        super().__init__(f"{self.code}: {self.message}")

    @property
    def pointer(self) -> Optional[str]:
        """Where in the params the fault is, as a JSON Pointer."""
        return self.data.get("pointer")

    @property
    def reason(self) -> Optional[str]:
        """A stable word that says why, such as `range` or `unknown_key`."""
        return self.data.get("reason")

    @property
    def run_id(self) -> Optional[str]:
        """The record of the attempt, if there is one."""
        return self.data.get("run_id")


class BadRequest(ProtocolError):
    """The request breaks the contract. `pointer` and `reason` say where and why."""

    code = "bad_request"


class UnknownMethod(ProtocolError):
    """The daemon does not have this method: it may be older than the client."""

    code = "unknown_method"


class Forbidden(ProtocolError):
    """This caller may not do that."""

    code = "forbidden"


class NotFound(ProtocolError):
    """It does not exist, or not for this caller."""

    code = "not_found"


class Conflict(ProtocolError):
    """It contradicts what is there already; `reason` says what."""

    code = "conflict"


class TooLarge(ProtocolError):
    """The message is larger than the daemon takes."""

    code = "too_large"


class Busy(ProtocolError):
    """Nothing was done. The client has already tried again for as long as `busy_s` says."""

    code = "busy"

    @property
    def retry_after_s(self) -> float:
        """In how many seconds the daemon says to come back."""
        given = self.data.get("retry_after_ms")
        return max(20.0, given if isinstance(given, (int, float)) else 100.0) / 1000


class Draining(ProtocolError):
    """The daemon is about to end, or takes no runs at the moment."""

    code = "draining"


class Internal(ProtocolError):
    """A fault of the daemon. The message says whether the program ran."""

    code = "internal"


_BY_CODE = {cls.code: cls for cls in (BadRequest, UnknownMethod, Forbidden, NotFound, Conflict, TooLarge, Busy,
                                      Draining, Internal)}


def error_from(error: Dict[str, Any]) -> ProtocolError:
    """The exception for the error of a response."""
    return _BY_CODE.get(str(error.get("code")), ProtocolError)(error)


class ConnectionLost(CedError, ConnectionError):
    """There is no connection to the daemon, or it broke.

    `sent` says whether the request may have reached the daemon. `run_id` is the run's name if the
    daemon has said it: `Client.wait(run_id=...)` then tells how it ended.
    """

    def __init__(self, message: str, sent: bool = False, run_id: Optional[str] = None) -> None:
        super().__init__(message)
        self.sent = sent
        self.run_id = run_id


class NoPermission(ConnectionLost, PermissionError):
    """The daemon's socket is there, and this user may not use it."""


class ValueRefused(CedError, ValueError):
    """The daemon accepted the output, and the model class of `schema` did not. `result` has all of it."""

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


class ToolError(Exception):
    """A tool raises this to give the calling program a message, and data beside it."""

    def __init__(self, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.data = data
