"""Carries bytes from a client to a hub, and messages from the hub to the client.

Towards the hub the bytes go as they come: the hub judges them. Towards the client only whole messages go, so that what
a hub that is killed leaves unsaid can be said in its place: that the session is over.
"""

import os
import socket
import threading
from contextlib import suppress
from typing import Any

from agdbg import status
from agdbg.protocol.address import unreachable
from agdbg.protocol.errors import Disconnected
from agdbg.protocol.messages import event
from agdbg.protocol.wire import Decoder, ProtocolError, encode
from agdbg.tell import tell

_PIECE = 1 << 16
_LOST = (
    "the debugger's hub is gone, and with it this session; the program runs on, and its trace keeps what was recorded\n"
)
_REFUSED = "the connection is closed, since what came in cannot be told apart into messages"


class Bridge:
    """Between a client and a hub.

    Args:
        hub: the connection to it.
    """

    def __init__(self, hub: socket.socket) -> None:
        self._hub = hub
        self._seq = 0
        self._is_over = False
        self._client_left = False
        self._refused = ""

    @classmethod
    def to(cls, path: str) -> "Bridge":
        """A bridge to the hub at a socket.

        Raises:
            Disconnected: nothing answers there.
        """
        hub = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            hub.connect(path)
        except OSError as error:
            hub.close()
            raise Disconnected(unreachable(path, error)) from None
        return cls(hub)

    def carry(self, taken: int, given: int) -> int:
        """Carry until the client or the hub is gone; return the exit status.

        Args:
            taken, given: descriptors: what the client says, and what it gets.
        """
        threading.Thread(target=self._to_hub, args=(taken,), name="client", daemon=True).start()
        try:
            self._to_client(given)
            if self._is_over or self._client_left:
                return status.OK
            write_all(given, apology(self._seq + 1, self._refused or _LOST))
            if self._refused:
                tell(f"error: {self._refused}")
                return status.BAD_INPUT
        except OSError:  # the client reads no more: it is gone, and the hub gets to know by the end of the connection
            return status.OK
        finally:
            self._hub.close()
        return status.INTERNAL

    def _to_hub(self, taken: int) -> None:
        """In a thread of its own, so that a client that does not read can still speak."""
        with suppress(OSError):  # the hub is gone: the other direction sees that too
            while data := os.read(taken, _PIECE):
                self._hub.sendall(data)
            self._client_left = True
            self._hub.shutdown(socket.SHUT_WR)

    def _to_client(self, given: int) -> None:
        decoder, held = Decoder(), bytearray()
        while data := self._received():
            try:
                messages = decoder.feed(data)
            except ProtocolError as error:
                self._pass_on(error.messages, b"".join(map(encode, error.messages)), given)
                return
            held += data
            end = len(held) - decoder.unfinished
            self._pass_on(messages, held[:end], given)
            del held[:end]

    def _pass_on(self, messages: list[dict[str, Any]], as_bytes: bytes | bytearray, given: int) -> None:
        """Give the client whole messages as the hub wrote them."""
        for message in messages:
            self._note(message)
        write_all(given, as_bytes)

    def _received(self) -> bytes:
        try:
            return self._hub.recv(_PIECE)
        except OSError:
            return b""

    def _note(self, message: dict[str, Any]) -> None:
        self._seq = int(message.get("seq") or 0)
        is_refused = message.get("type") == "response" and not message.get("request_seq")
        self._refused = f"{_REFUSED}: {message.get('message')}" if is_refused else ""
        if message.get("event") == "terminated":
            self._is_over = True
        if message.get("command") == "disconnect" and message.get("success"):
            self._is_over = True


def apology(seq: int, text: str) -> bytes:
    """The messages that tell a client that there is no hub to talk to."""
    said = event(seq, "output", {"category": "important", "output": text.rstrip("\n") + "\n"})
    return encode(said) + encode(event(seq + 1, "terminated"))


def write_all(fd: int, data: bytes | bytearray) -> None:
    """Write all of ``data``.

    Raises:
        OSError: its reader is gone.
    """
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
