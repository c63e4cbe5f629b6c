"""What the session needs of a connection; `agdbg.protocol.async_client.AsyncClient` is one."""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

OnEvent = Callable[[dict[str, Any]], object]


class Backend(Protocol):
    """One connection to a hub."""

    on_event: OnEvent | None

    @property
    def closed(self) -> "asyncio.Future[Any]":
        """Done when the connection has ended: with None when it was closed here, else with the error."""

    async def request(self, command: str, /, **arguments: Any) -> dict[str, Any]:
        """Send a request and wait for its body; raise when it is refused."""

    def close(self) -> None:
        """Close the connection."""
