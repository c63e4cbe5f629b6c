"""A connection to a hub that says other names for directories: a temporary one has another name each time."""

from __future__ import annotations

import asyncio
from typing import Any

from agdbg.protocol.async_client import AsyncClient


class Relabelled:
    """Passes everything on to a real connection and back; only the name of one directory is another one on the screen.

    Args:
        client: the connection.
        real: the directory's name in the system.
        shown: its name on the screen.

    Attributes:
        in_flight: how many requests are not answered yet.
        on_event: called with each event.
    """

    def __init__(self, client: AsyncClient, real: str, shown: str) -> None:
        self._client, self._real, self._shown = client, real, shown
        self.in_flight = 0
        self.on_event: Any = None
        client.on_event = self._on_event

    @property
    def closed(self) -> asyncio.Future[Any]:
        """Done when the connection has ended."""
        return self._client.closed

    async def request(self, command: str, /, **arguments: Any) -> dict[str, Any]:
        """Send a request and wait for its body; raise when it is refused."""
        self.in_flight += 1
        try:
            body = await self._client.request(command, **_replaced(arguments, self._shown, self._real))
        finally:
            self.in_flight -= 1
        answer: dict[str, Any] = _replaced(body, self._real, self._shown)
        return answer

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _on_event(self, message: dict[str, Any]) -> None:
        if self.on_event is not None:
            self.on_event(_replaced(message, self._real, self._shown))


def _replaced(value: Any, old: str, new: str) -> Any:
    """Replace a text in all texts of a JSON value."""
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {key: _replaced(each, old, new) for key, each in value.items()}
    return [_replaced(each, old, new) for each in value] if isinstance(value, list) else value
