"""A client for asyncio: for a user interface that has a loop of its own.

Events are handed to a callback in the order in which the hub sent them, and responses are in that order too: a request's
waiter goes on in a later turn of the loop, and what follows its response is handed over only then.
"""

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from os import PathLike, fspath
from typing import Any, Self

from agdbg.protocol.address import place_of, unreachable
from agdbg.protocol.calls import Calls, answered_by, body_of, gone, is_event, timed_out
from agdbg.protocol.errors import Disconnected, ProtocolError, RequestFailed
from agdbg.protocol.wire import Decoder

__all__ = ["AsyncClient", "Disconnected", "ProtocolError", "RequestFailed"]

_PIECE = 1 << 16
Body = dict[str, Any]
OnEvent = Callable[[dict[str, Any]], object]
#: Requests that run Python of the person's own, which may wait for input; and those that read a recording of any size, of
#: which the hub tells how far they are, and which can be cancelled.
_AS_LONG_AS_IT_TAKES = frozenset(
    {
        "evaluate", "setVariable", "exceptionInfo", "agdbg/rows", "agdbg/fold", "agdbg/find", "agdbg/locate", "agdbg/node",
        "agdbg/events", "agdbg/graph", "agdbg/export", "agdbg/findings", "agdbg/timeline", "agdbg/profile", "agdbg/neighbourhood",
        "agdbg/tree", "agdbg/paths", "agdbg/firstBad",
    }
)  # fmt: skip


class AsyncClient(asyncio.BufferedProtocol):
    """One connection to a hub; make it by :meth:`connect`, and use it on the loop that it was made on.

    Attributes:
        on_event: called with each event, a whole message whose ``body`` is always there.
        closed: done when the connection has ended: with None when :meth:`close` was called, else with the error.
        timeout: seconds that a request is waited for; one that evaluates Python, or reads a recording, until it is done. One
            whose waiter is cancelled is cancelled in the hub too.
    """

    def __init__(
        self, address: str, token: str | None = None, timeout: float = 10.0, on_event: OnEvent | None = None
    ) -> None:
        self.on_event, self.timeout = on_event, timeout
        self._loop = asyncio.get_running_loop()
        self.closed: asyncio.Future[Disconnected | None] = self._loop.create_future()
        self._address = address
        self._calls, self._decoder = Calls(token), Decoder()
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._transport: asyncio.Transport | None = None
        self._room = memoryview(bytearray(_PIECE))
        self._behind: deque[dict[str, Any]] = deque()  # events that came with a response, behind it

    @classmethod
    async def connect(
        cls,
        address: str | PathLike[str],
        token: str | None = None,
        timeout: float = 10.0,
        on_event: OnEvent | None = None,
    ) -> Self:
        """Connect to the hub at the path of a Unix socket, or at ``host:port``.

        Raises:
            Disconnected: nothing answers there.
        """
        loop = asyncio.get_running_loop()
        client = cls(fspath(address), token, timeout, on_event)
        try:
            place = place_of(address)
            async with asyncio.timeout(timeout):
                if isinstance(place, tuple):
                    await loop.create_connection(lambda: client, *place)
                else:
                    await loop.create_unix_connection(lambda: client, place)
        except (OSError, ValueError) as error:
            raise Disconnected(unreachable(address, error)) from error
        return client

    async def request(self, command: str, /, **arguments: Any) -> Body:
        """Send a request and wait for its body.

        Raises:
            RequestFailed: the hub refused it, and says why.
            TimeoutError: no answer came in time; the connection can still be used.
            Disconnected: the hub is gone, or this client is closed.
        """
        if self.closed.done() or self._transport is None:
            raise self._reason()
        number, data = self._calls.make(command, arguments)
        answer = self._waiting[number] = self._loop.create_future()
        self._transport.write(data)
        try:
            async with asyncio.timeout(None if command in _AS_LONG_AS_IT_TAKES else self.timeout):
                return body_of(await answer)
        except TimeoutError:
            raise timed_out(command, self.timeout) from None
        except asyncio.CancelledError:
            self._leave(number)
            raise
        finally:
            self._waiting.pop(number, None)

    def _leave(self, number: int) -> None:
        """Nobody waits for that answer any more, so nobody is to work at it."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(self._calls.make("cancel", {"requestId": number})[1])

    def close(self) -> None:
        """Close the connection. The hub and the program go on; ``disconnect`` and ``terminate`` are requests."""
        self._finish(None)

    # ----- what the loop calls -----

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ready to send."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        connection = transport.get_extra_info("socket")
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to put what the hub sent: asked of the system anew for each piece, room takes longer than a small message."""
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        """Take in what the hub sent."""
        try:
            self._sort(self._decoder.feed(bytes(self._room[:nbytes])))
        except ProtocolError as error:
            self._sort(error.messages)
            self._finish(gone(self._address, f"it sent what is no message: {error}"))

    def connection_lost(self, error: Exception | None) -> None:
        """The hub has gone."""
        cut = "in the middle of a message" if self._decoder.pending else ""
        self._finish(gone(self._address, error or cut))

    def _sort(self, messages: list[dict[str, Any]]) -> None:
        is_first = not self._behind
        for message in messages:
            if not is_event(message):
                if (answer := self._waiting.get(answered_by(message))) is not None and not answer.done():
                    answer.set_result(message)
                    is_first = False
            elif is_first:
                self._hand_over(message)
            else:
                self._behind.append(message)
                self._loop.call_soon(self._catch_up)  # which the waiters, woken before, come in front of

    def _catch_up(self) -> None:
        while self._behind:
            self._hand_over(self._behind.popleft())

    def _hand_over(self, message: dict[str, Any]) -> None:
        if self.on_event is None or self.closed.done():
            return
        try:
            self.on_event(message)
        except Exception as error:  # the callback's own fault must not end the connection
            said = f"the callback for the event {message['event']} failed"
            self._loop.call_exception_handler({"message": said, "exception": error})

    def _finish(self, error: Disconnected | None) -> None:
        """The connection has ended; only the first reason counts. Whoever waits is told."""
        if self.closed.done():
            return
        if error is not None:
            self._catch_up()
        self.closed.set_result(error)
        if self._transport is not None:
            self._transport.close()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(self._reason())

    def _reason(self) -> Disconnected:
        error = self.closed.result() if self.closed.done() else None
        return Disconnected(str(error or f"this client of the hub at {self._address} is closed"))
