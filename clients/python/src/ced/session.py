"""What both clients know of a session."""

from __future__ import annotations

from typing import Any, List, Optional

from .events import Map
from .results import Result


class SessionState:
    """A session and where it stands, as the last answers said. `ended` is why it has ended, or None.

    What ends a session between two requests, such as its idle time, is heard with the next one.
    """

    def __init__(self, client: Any, opened: Map) -> None:
        self._client = client
        self.id: str = opened["session"]
        self.language: str = opened["language"]
        self.limits: Map = opened["limits"]
        self.not_kept: Optional[str] = opened.get("not_kept")
        self.state: Optional[int] = 0
        self.kept: List[int] = []
        self.ended: Optional[str] = None
        self.raw = opened
        client._settings.sessions[self.id] = self

    def seen(self, result: Result[Any]) -> Result[Any]:
        """Notes what a cell says of its session: where it stands, and why it has ended."""
        if result.session is not None:
            self.state, self.kept = result.session.state, result.session.kept
            self.ended = result.session.why or self.ended
        return result

    def stands(self, answer: Map) -> Map:
        """Notes the state after a rollback, a keep or a drop."""
        self.state, self.kept = answer["state"], answer["kept"]
        return answer
