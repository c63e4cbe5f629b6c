"""A client that blocks: for scripts, tests and the command line.

It has no thread: :meth:`Client.request` and :meth:`Client.wait_for` themselves read from the socket, and keep the
events that come meanwhile. One message is one ``send``.
"""

import select
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from os import PathLike, fspath
from time import monotonic
from types import TracebackType
from typing import Any, Self

from agdbg.protocol.address import place_of, unreachable
from agdbg.protocol.calls import Calls, answered_by, body_of, gone, is_event, timed_out
from agdbg.protocol.errors import Disconnected, ProtocolError, RequestFailed
from agdbg.protocol.wire import Decoder

__all__ = ["Client", "Disconnected", "ProtocolError", "RequestFailed"]

_PIECE = 1 << 16
_LEAST_WAIT = 0.001
_LONGEST_WAIT = 86_400.0  # that the system is asked for at once
_MS = 1000.0
Body = dict[str, Any]


class Client:
    """One connection to a hub; make it by :meth:`connect`. It is for one thread.

    Attributes:
        timeout: seconds that a request or an event is waited for, unless a call says otherwise.
        events: events that nobody has waited for yet, oldest first, as whole messages; a caller may take them.
    """

    def __init__(
        self, connection: socket.socket, address: str, token: str | None = None, timeout: float = 10.0
    ) -> None:
        self.timeout = timeout
        self.events: deque[dict[str, Any]] = deque()
        connection.setblocking(False)  # a timeout of the socket's own costs two calls of the system at every use
        self._socket, self._address = connection, address
        self._readable, self._writable = _poll(connection, select.POLLIN), _poll(connection, select.POLLOUT)
        self._calls, self._decoder = Calls(token), Decoder()
        self._answers: dict[int, dict[str, Any] | None] = {}  # by number of the request; None: not there yet
        self._dead: Disconnected | None = None

    @classmethod
    def connect(cls, address: str | PathLike[str], token: str | None = None, timeout: float = 10.0) -> Self:
        """Connect to the hub at the path of a Unix socket, or at ``host:port``.

        Raises:
            Disconnected: nothing answers there.
        """
        try:
            connection = _connected(address, timeout)
        except (OSError, ValueError) as error:
            raise Disconnected(unreachable(address, error)) from error
        return cls(connection, fspath(address), token, timeout)

    def request(self, command: str, /, **arguments: Any) -> Body:
        """Send a request and wait for its body.

        Raises:
            RequestFailed: the hub refused it, and says why.
            TimeoutError: no answer came in time; the connection can still be used.
            Disconnected: the hub is gone.
        """
        return self.answer(self.send(command, **arguments), command)

    def send(self, command: str, /, **arguments: Any) -> int:
        """Send a request without waiting; the number is for :meth:`answer`."""
        self._refuse_dead()
        number, data = self._calls.make(command, arguments)
        try:
            self._send_all(data)
        except OSError as error:  # a half sent message cannot be mended
            raise self._end(error.strerror or error) from error
        self._answers[number] = None
        return number

    def answer(self, number: int, command: str = "the request", timeout: float | None = None) -> Body:
        """Wait for the body of the response to a request that was sent; raises what :meth:`request` raises."""
        seconds = self.timeout if timeout is None else timeout
        deadline = _deadline(seconds)
        try:
            while (found := self._answers[number]) is None:
                if not self._read(deadline):
                    raise timed_out(command, seconds)
        finally:
            self._answers.pop(number, None)
        return body_of(found)

    def wait_for(
        self, event: str, timeout: float | None = None, predicate: Callable[[Body], object] | None = None
    ) -> Body:
        """Wait for an event, take it off :attr:`events` and return its body; an earlier one that is there counts.

        Args:
            event: its name.
            timeout: seconds; :attr:`timeout` if None.
            predicate: takes a body and says whether this is the one.

        Raises:
            TimeoutError: no such event came in time.
            Disconnected: the hub is gone; what it sent before that was looked at.
        """
        seconds = self.timeout if timeout is None else timeout
        deadline, looked = _deadline(seconds), 0
        while True:
            for index in range(looked, len(self.events)):
                message = self.events[index]
                if message["event"] == event and (predicate is None or predicate(message["body"])):
                    del self.events[index]
                    return message["body"]  # type: ignore[no-any-return]  # checked by the decoder to be an object
            looked = len(self.events)
            if not self._read(deadline):
                raise TimeoutError(f"no event {event} within {seconds:g} s")

    def next_event(self, timeout: float | None = None) -> dict[str, Any] | None:
        """Take the oldest event off :attr:`events`, a whole message; None when none came in time.

        Raises:
            Disconnected: the hub is gone, and there is no event left.
        """
        deadline = _deadline(self.timeout if timeout is None else timeout)
        while not self.events:
            if not self._read(deadline):
                return None
        return self.events.popleft()

    def fileno(self) -> int:
        """The descriptor that is readable when the hub has sent something; what is in :attr:`events` was read before."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close the connection. The hub and the program go on; ``disconnect`` and ``terminate`` are requests."""
        if self._dead is None:
            self._dead = Disconnected(f"this client of the hub at {self._address} is closed")
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ----- sending -----

    def _send_all(self, data: bytes) -> None:
        """Send all of a message, which as a rule is taken at once."""
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            sent = 0
        if sent == len(data):
            return
        deadline = _deadline(self.timeout)
        while sent < len(data):
            if not self._writable.poll(max(deadline - monotonic(), 0) * _MS):
                raise TimeoutError("the hub takes nothing more")
            with suppress(BlockingIOError):
                sent += self._socket.send(memoryview(data)[sent:])

    # ----- reading -----

    def _read(self, deadline: float) -> bool:
        """Take in what the hub sends next; False when nothing came in time."""
        self._refuse_dead()
        left = deadline - monotonic()
        if left <= 0:  # also while the hub sends and sends
            return False
        try:
            if not self._readable.poll(min(left, _LONGEST_WAIT) * _MS):
                return left > _LONGEST_WAIT
            data = self._socket.recv(_PIECE)
        except BlockingIOError:  # what was there was none, which the system may find out only now
            return True
        except OSError as error:
            raise self._end(error.strerror or error) from error
        if not data:
            raise self._end("in the middle of a message" if self._decoder.pending else "")
        try:
            self._sort(self._decoder.feed(data))
        except ProtocolError as error:
            self._sort(error.messages)
            raise self._end(f"it sent what is no message: {error}") from error
        return True

    def _sort(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            if is_event(message):
                self.events.append(message)
            elif (number := answered_by(message)) in self._answers:
                self._answers[number] = message

    def _refuse_dead(self) -> None:
        if self._dead is not None:
            raise Disconnected(str(self._dead))

    def _end(self, reason: object) -> Disconnected:
        self._dead = gone(self._address, reason)
        self._socket.close()
        return self._dead


def _poll(connection: socket.socket, event: int) -> "select.poll":
    """What waits until something can be read, or written."""
    made = select.poll()
    made.register(connection, event)
    return made


def _deadline(seconds: float) -> float:
    """Zero seconds still take in what is there."""
    return monotonic() + max(seconds, _LEAST_WAIT)


def _connected(address: str | PathLike[str], timeout: float) -> socket.socket:
    place = place_of(address)
    if isinstance(place, tuple):
        connection = socket.create_connection(place, timeout)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout)
        connection.connect(place)
    except BaseException:
        connection.close()
        raise
    return connection
