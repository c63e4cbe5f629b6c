"""What the session needs of a connection; `agdbg.protocol.async_client.AsyncClient` is one."""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from agdbg.protocol.errors import Disconnected, RequestFailed

OnEvent = Callable[[dict[str, Any]], object]
#: What a request ends with that has no body: the hub has refused it, is gone, or gives no answer in time.
FAILURES = (RequestFailed, Disconnected, TimeoutError)


class Backend(Protocol):
    """One connection to a hub."""

    on_event: OnEvent | None

    @property
    def closed(self) -> "asyncio.Future[Any]":
        """Done when the connection has ended: with None when it was closed here, else with the error."""

    async def request(self, command: str, /, **arguments: Any) -> dict[str, Any]:
        """Send a request and wait for its body.

        Raises:
            RequestFailed: the hub refuses it.
            Disconnected: the hub is gone.
            TimeoutError: no answer came in time.
        """

    def close(self) -> None:
        """Close the connection."""
