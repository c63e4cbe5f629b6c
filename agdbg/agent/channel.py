"""A connection of one program thread to the hub: one JSON object a line."""

import contextlib
import socket
from typing import Any

from agdbg.descriptors import identity, out_of_the_way
from agdbg.json_text import reader, writer

_encode, _decode = writer(default=str), reader()


class HubGone(Exception):
    """The hub is dead, or does not want this program any more."""


class Channel:
    """Connects to the hub's agent socket; :class:`HubGone` when that fails, now or later.

    The program may close our descriptor, and its next file may get the number: it is looked at before each use.

    Args:
        path: of the socket.
        waits: whether to wait for a hub at which more threads call than it has taken so far.
    """

    def __init__(self, path: str, *, waits: bool = True) -> None:
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            made.setblocking(waits)
            made.connect(path)
            made.setblocking(True)
        except OSError as error:
            made.close()
            raise HubGone(f"cannot reach the hub at {path}: {error.strerror}") from None
        self._socket = socket.socket(fileno=out_of_the_way(made.detach()))
        self._identity = identity(self._socket.fileno())
        self._received = b""

    def send(self, message: dict[str, Any]) -> None:
        """Send one object."""
        self._check()
        try:
            self._socket.sendall(_encode(message).encode() + b"\n")
        except OSError as error:
            raise HubGone(str(error)) from None

    def receive(self) -> dict[str, Any]:
        """Wait for one object, after one was sent: to that end the descriptor was looked at."""
        while b"\n" not in self._received:
            try:
                data = self._socket.recv(65536)
            except OSError as error:
                raise HubGone(str(error)) from None
            if not data:
                raise HubGone("the hub has closed the connection")
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        found: dict[str, Any] = _decode(line.decode())
        return found

    def _check(self) -> None:
        try:
            ours = identity(self._socket.fileno()) == self._identity
        except OSError:
            ours = False
        if not ours:
            self._socket.detach()
            raise HubGone("the program closed the connection to the hub")

    def close(self) -> None:
        """Close the connection, in a forked child the child's end of it."""
        with contextlib.suppress(HubGone, OSError):
            self._check()
            self._socket.close()
