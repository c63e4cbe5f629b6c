"""A client: a connection that speaks the Debug Adapter Protocol."""

import socket
from collections import deque
from collections.abc import Callable
from typing import Any

from agdbg.hub.loop import Loop
from agdbg.protocol.wire import Decoder, ProtocolError, encode

#: Output of the program is left out for a client that has so many bytes to read before it.
CLOGGED = 1 << 20
#: No more requests are taken from one that has so many, and one that has still more is cut off.
BACKED_UP = 8 << 20
LOST = 64 << 20
#: Requests of one client that are worked at; more wait, unread if need be, so that those of other clients come between.
IN_FLIGHT = 64
#: Answers up to this size, in bytes, to requests that came together go out together: the client is woken up once, and does not
#: take the processor while the next one is worked at.
_GATHERED = 1 << 14
_PIECE = 1 << 16


class Unreadable(dict[str, Any]):
    """Stands for a request whose body is no JSON object; ``problem`` says what is wrong with it."""

    def __init__(self, problem: str) -> None:
        super().__init__(type="request")
        self.problem = problem


class Connection:
    """Sends and receives the messages of one client.

    Attributes:
        trusted: it may do more than introduce itself: it came through a file of ours, or has shown the token.
        introduced: it has sent ``initialize``.
        name: what it calls itself.
        peer: where it comes from, for the log.
        configured: it has said that all is said, which it may do before it launches or attaches.
        hears_progress: it has said that it shows how far work has come.
        hears_invalidated: it has said that it knows the event ``invalidated``.
        joined: it has launched a program, or attached; only such clients are told what happens.
        breakpoints: those that it knows of, by their ids, as it was told of them.
        skipped: bytes of the program's output that it was not shown and not told about yet.
    """

    def __init__(
        self,
        connection: socket.socket,
        loop: Loop,
        trusted: bool,
        on_message: "Callable[[Connection, dict[str, Any]], object]",
        on_broken: "Callable[[Connection, str], object]",
        on_gone: "Callable[[Connection], object]",
    ) -> None:
        self.trusted, self.introduced, self.joined = trusted, False, False
        self.hears_invalidated = self.hears_progress = self.configured = False
        self.name = "another client"
        self.breakpoints: dict[int, dict[str, Any]] = {}
        self.skipped = 0
        self.on_trusted: Callable[[], object] = lambda: None
        self.on_drained: Callable[[Connection], object] = lambda client: None
        self._socket, self._loop = connection, loop
        self._on_message, self._on_broken, self._on_gone = on_message, on_broken, on_gone
        self._decoder = Decoder(Unreadable)
        self._gathered: list[bytes] = []  # what goes out together
        self._unsent: deque[memoryview] = deque()
        self.unsent = 0
        self._seq = 0
        self._waiting: deque[dict[str, Any]] = deque()
        self._in_flight, self._broken, self._is_taking = 0, "", False
        self._open, self._leaving, self._held = True, False, False
        self.peer = _peer_of(connection)
        connection.setblocking(False)
        loop.watch(connection.fileno(), self._readable)

    # ----- sending -----

    def next_seq(self) -> int:
        """The number of the next message to this client."""
        self._seq += 1
        return self._seq

    def send(self, message: Any) -> None:
        """Send a message now, or as soon as the client takes it."""
        if not self._open or self._leaving:
            return
        if message.get("type") == "response":
            self._answered()
        data = encode(message)
        if self._unsent:
            self._keep(memoryview(data))
            return
        self._gathered.append(data)
        more = self._is_taking and self._waiting
        if not more or len(data) > _GATHERED or len(self._gathered) > IN_FLIGHT:
            self.flush()

    def flush(self) -> None:
        """Send what was gathered, as far as the client takes it now."""
        if not self._gathered or not self._open:
            return
        data = self._gathered[0] if len(self._gathered) == 1 else b"".join(self._gathered)
        self._gathered.clear()
        try:
            sent = self._socket.send(data)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError:
            self._loop.post(self.close)  # the caller may be in the middle of telling all clients
            return
        if sent < len(data):
            self._keep(memoryview(data)[sent:])

    def leave(self) -> None:
        """Close the connection when all that was sent is gone."""
        self.flush()
        self._leaving = True
        if not self._unsent:
            self._loop.post(self.close)

    def close(self) -> None:
        """Close the connection now."""
        if not self._open:
            return
        self.flush()
        self._open = False
        self._loop.unwatch(self._socket.fileno())
        self._socket.close()
        self._on_gone(self)

    def _keep(self, data: memoryview) -> None:
        self._unsent.append(data)
        self.unsent += len(data)
        if self.unsent > LOST:
            self._loop.post(self.close)
        self._held = self.unsent > BACKED_UP
        self._watch()

    def _watch(self) -> None:
        if self._open:
            reads = not self._held and not self._leaving and not self._waiting
            self._loop.watch(
                self._socket.fileno(),
                self._readable if reads else self._hung_up,
                self._writable if self._unsent else None,
            )

    def _writable(self) -> None:
        while self._unsent:
            data = self._unsent[0]
            try:
                sent = self._socket.send(data)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:
                self.close()
                return
            self.unsent -= sent
            if sent < len(data):
                self._unsent[0] = data[sent:]
                break
            self._unsent.popleft()
        self._held = self.unsent > BACKED_UP
        self._watch()
        if not self._unsent and self._leaving:
            self.close()
        elif self.unsent < CLOGGED:
            self.on_drained(self)

    # ----- receiving -----

    def _readable(self) -> None:
        try:
            data = self._socket.recv(_PIECE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        try:
            messages = self._decoder.feed(data)
        except ProtocolError as error:
            messages, self._broken = error.messages, str(error)
        self._waiting.extend(messages)
        self._take()
        if self._waiting:
            self._watch()

    def _take(self) -> None:
        """Pass messages on, as far as there are not too many requests without an answer."""
        self._is_taking = True
        try:
            while self._waiting and self._in_flight < IN_FLIGHT and self._open and not self._leaving:
                message = self._waiting.popleft()
                self._in_flight += message.get("type") == "request"
                self._on_message(self, message)
        finally:
            self._is_taking = False
            self.flush()
        if self._broken and not self._waiting and self._open:
            broken, self._broken = self._broken, ""
            self._on_broken(self, broken)

    def _answered(self) -> None:
        """A request has its answer: one that waits can be taken."""
        self._in_flight = max(0, self._in_flight - 1)
        if self._waiting and not self._is_taking:
            self._loop.post(self._take_more)

    def _take_more(self) -> None:
        if self._open and not self._leaving:
            self._take()
            self._watch()

    def _hung_up(self) -> None:
        """Nothing is read while the client is backed up or leaves; only its end is seen."""
        try:
            gone = not self._socket.recv(1, socket.MSG_PEEK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            gone = True
        if gone:
            self.close()
        else:
            self._loop.watch(self._socket.fileno(), None, self._writable)


def _peer_of(connection: socket.socket) -> str:
    try:
        found = connection.getpeername()
    except OSError:
        return "a client that is gone"
    return f"a client at {found[0]}:{found[1]}" if isinstance(found, tuple) else "a client of this user"
