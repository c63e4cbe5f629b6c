"""Agents: one connection for each thread of the program that has stopped or recorded, with JSON objects as lines."""

import socket
from collections.abc import Callable
from time import monotonic
from typing import Any

from agdbg.hub.log import log
from agdbg.hub.loop import Loop
from agdbg.json_text import reader, writer

Body = dict[str, Any]

_PIECE = 1 << 16
#: A line may be this long; more is a mistake, or somebody else at the socket.
_LINE = 64 << 20
_encode, _decode = writer(), reader()


class AgentRefused(Exception):
    """The agent refused a request. ``code`` is ``beyond``, ``barrier``, ``bad``, ``gone`` or empty."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code


#: What is told of a request: the body of the answer, or why there is none.
Answer = Callable[[Body, AgentRefused | None], object]


#: How long an answer that was asked for ahead may be given, in seconds: other threads of the program run.
AHEAD_S = 0.5


class _Ahead:
    """A request that was sent before anybody has asked for it."""

    def __init__(self, do: str, arguments: Body) -> None:
        self._asked, self._at = (do, arguments), monotonic()
        self._answer: tuple[Body, AgentRefused | None] | None = None
        self._then: Answer | None = None

    def is_for(self, do: str, arguments: Body) -> bool:
        """Whether it is what somebody asks for now."""
        return self._asked == (do, arguments) and monotonic() - self._at < AHEAD_S

    def give(self, then: Answer) -> None:
        """Let somebody have the answer, as soon as it is there."""
        self._then = then
        if self._answer is not None:
            then(*self._answer)

    def answered(self, body: Body, error: AgentRefused | None) -> None:
        """Take the answer."""
        self._answer = body, error
        if self._then is not None:
            self._then(body, error)


class AgentLink:
    """The connection to one thread of the program.

    Attributes:
        thread: its number, 0 until it has said hello.
    """

    def __init__(
        self,
        connection: socket.socket,
        loop: Loop,
        on_news: "Callable[[AgentLink, str, Any], object]",
        on_gone: "Callable[[AgentLink], object]",
    ) -> None:
        self.thread = 0
        self._socket, self._loop = connection, loop
        self._on_news, self._on_gone = on_news, on_gone
        self._line = bytearray()
        self._unsent = bytearray()
        self._asked: dict[int, Answer] = {}
        self._number = self._resumed = 0
        self._ahead: _Ahead | None = None
        self._open = True
        connection.setblocking(False)
        loop.watch(connection.fileno(), self._readable)

    def ask(self, do: str, then: Answer, **arguments: Any) -> None:
        """Ask the thread, which must be stopped; ``then`` is called when it answers, or is gone."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead.is_for(do, arguments):
            ahead.give(then)
        else:
            self._ask(do, then, arguments)

    def ask_ahead(self, do: str, **arguments: Any) -> None:
        """Ask what somebody is about to ask: the answer is theirs unless the thread goes on or is asked anything else before."""
        ahead = _Ahead(do, arguments)
        self._ask(do, ahead.answered, arguments)
        self._ahead = ahead

    def resume(self, refused: Answer, **arguments: Any) -> None:
        """Let the thread go on, which it answers only if it cannot, or is gone: that saves a message at each step."""
        self._ahead = None
        self._asked.pop(self._resumed, None)
        self._ask("resume", refused, {**arguments, "quiet": True})
        self._resumed = self._number

    def _ask(self, do: str, then: Answer, arguments: Body) -> None:
        if not self._open:
            then({}, _gone())
            return
        self._number += 1
        self._asked[self._number] = then
        self._send((_encode({"id": self._number, "do": do, **arguments}) + "\n").encode())

    def close(self) -> None:
        """Close the connection: the thread, if it is stopped, goes on."""
        if not self._open:
            return
        self._open = False
        self._loop.unwatch(self._socket.fileno())
        self._socket.close()
        asked, self._asked = self._asked, {}
        for then in asked.values():
            then({}, _gone())
        self._on_gone(self)

    # ----- sending -----

    def _send(self, data: bytes) -> None:
        if self._unsent:
            self._unsent += data
            return
        try:
            sent = self._socket.send(data)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError:
            self._loop.post(self.close)
            return
        if sent < len(data):
            self._unsent += data[sent:]
            self._loop.watch(self._socket.fileno(), self._readable, self._writable)

    def _writable(self) -> None:
        try:
            del self._unsent[: self._socket.send(self._unsent)]
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.close()
            return
        if not self._unsent:
            self._loop.watch(self._socket.fileno(), self._readable)

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
        for line in self._lines(data):
            try:
                message = _decode(line.decode())
            except (ValueError, RecursionError):
                message = None
            if not isinstance(message, dict):
                log(f"an agent sent what is no message, and was cut off: {line[:80]!r}")
                self.close()
                return
            self._take(message)

    def _lines(self, data: bytes) -> list[bytes]:
        """The lines that ``data`` completes."""
        if not self._line and data.find(b"\n") == len(data) - 1:  # one line, as it was sent
            return [data[:-1]]
        self._line += data
        end = self._line.rfind(b"\n")
        if end < 0:
            return [b"a line without an end"] if len(self._line) > _LINE else []
        whole = bytes(self._line[:end])
        del self._line[: end + 1]
        return whole.split(b"\n")

    def _take(self, message: Body) -> None:
        number = message.get("id")
        if number is None:
            for what, value in message.items():
                self._on_news(self, what, value)
            return
        then = self._asked.pop(number, None) if isinstance(number, int) else None
        if then is None:
            log(f"an agent answered what was not asked: {number!r}")
        elif message.get("ok"):
            body = message.get("body")
            then(body if isinstance(body, dict) else {}, None)
        else:
            then({}, AgentRefused(str(message.get("error") or "no reason given"), str(message.get("code") or "")))


def _gone() -> AgentRefused:
    return AgentRefused("the thread has ended", "gone")
