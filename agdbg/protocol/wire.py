"""How messages lie on the wire: a header that gives the length, an empty line, and one JSON object in UTF-8.

Both directions are on the way from one stop to the next, so a small message costs a few microseconds. A decoder
takes the stream in pieces of any size. A peer that breaks the framing cannot be understood from there on, so an
error is final. Of a body that is no JSON object the end is known: whoever wants to goes on with the next message.
"""

import re
from collections.abc import Callable
from typing import Any, NoReturn

from agdbg.json_text import reader, writer
from agdbg.protocol.errors import ProtocolError

__all__ = ["MAX_BODY", "MAX_HEADER", "Decoder", "ProtocolError", "encode"]

#: The most bytes that a header may have, its empty line included, ...
MAX_HEADER = 4 << 10
#: ... and the most that a body may have.
MAX_BODY = 16 << 20

_END = b"\r\n\r\n"
_PREFIX = b"Content-Length: "
_LENGTH = b"content-length"
#: A header as nearly all peers write it, of a body that is well below the limit.
_USUAL = re.compile(rb"Content-Length: ([0-9]{1,7})\r\n\r\n").match
_SHOWN = 60

# Escaped to ASCII: a file name that is no UTF-8 has lone surrogates, which come through whole like this.
_to_json = writer(allow_nan=False)


def encode(message: Any) -> bytes:
    """The header and body of one message, which is a dict of JSON values.

    Raises:
        ValueError, TypeError: a value has no JSON form; NaN and infinities have none.
    """
    body = _to_json(message)
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body.encode("ascii"))


class Decoder:
    """Takes the bytes of one connection, in pieces of any size, and gives its messages.

    Args:
        unreadable: makes what is given in place of a message whose body is no JSON object, of what is wrong with it; None:
            such a body ends the stream.
    """

    def __init__(self, unreadable: Callable[[str], dict[str, Any]] | None = None) -> None:
        self._unreadable = unreadable
        self._buffer = bytearray()
        self._length = -1  # of the body that the buffer starts with, or -1: it starts with a header
        self._header = 0  # bytes of the header that was taken off the buffer before that body
        self._seen = 0  # no header ends before this byte
        self._error = ""

    @property
    def pending(self) -> int:
        """How many bytes of an incomplete message are here: more than 0 at the end means that it was cut."""
        return len(self._buffer)

    @property
    def unfinished(self) -> int:
        """How many of the bytes so far belong to a message that is not whole yet, with its header."""
        return len(self._buffer) + self._header

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Take the next piece of the stream and return the messages that it completes, oldest first.

        Raises:
            ProtocolError: the stream is malformed. Its ``messages`` are those that this piece completed before
                that; every later call raises it again.
        """
        messages: list[dict[str, Any]] = []
        if self._error:
            raise ProtocolError(self._error)
        try:
            data = data if self._buffer or self._length >= 0 else self._whole(data, messages)
            self._buffer += data
            while self._buffer and (body := self._take()) is not None:
                messages.append(self._read(body))
        except ProtocolError as error:
            self._error = str(error)
            self._buffer.clear()
            raise ProtocolError(self._error, messages) from error.__cause__
        return messages

    def _read(self, body: bytes | bytearray) -> dict[str, Any]:
        try:
            return _parse(body)
        except ProtocolError as error:
            if self._unreadable is None:
                raise
            return self._unreadable(str(error))

    def _whole(self, data: bytes, messages: list[dict[str, Any]]) -> bytes:
        """Take messages off a piece that begins with one, as far as they are whole in it: nothing is copied that need not wait."""
        at, total = 0, len(data)
        while (header := _USUAL(data, at)) is not None:
            start = header.end()
            end = start + int(header[1])
            if end > total:
                break
            at = end
            messages.append(self._read(data[start:end]))
        return data[at:]

    def _take(self) -> bytearray | None:
        """Take the next whole body off the buffer, or nothing when there is none."""
        if self._length < 0 and not self._take_header():
            return None
        length, buffer = self._length, self._buffer
        if len(buffer) < length:
            return None
        body = buffer[:length]
        del buffer[:length]
        self._length, self._header = -1, 0
        return body

    def _take_header(self) -> bool:
        buffer = self._buffer
        end = buffer.find(_END, self._seen, MAX_HEADER)
        if end < 0:
            if len(buffer) >= MAX_HEADER:
                _refuse(f"the header is longer than {MAX_HEADER} bytes and begins with", bytes(buffer))
            self._seen = max(len(buffer) - len(_END) + 1, 0)
            return False
        header = bytes(buffer[:end])
        self._length = _checked(_length_in(header))
        self._header = end + len(_END)
        del buffer[: self._header]
        self._seen = 0
        return True


def _length_in(header: bytes) -> bytes:
    """The value of ``Content-Length`` as it stands there; other fields are ignored."""
    if header.startswith(_PREFIX) and b"\n" not in header:
        return header[len(_PREFIX) :]
    fields = [line.partition(b":") for line in header.split(b"\r\n")]
    found = {value.strip() for name, colon, value in fields if colon and name.strip().lower() == _LENGTH}
    if len(found) != 1:
        problem = "has no Content-Length" if not found else "has more than one Content-Length"
        _refuse(f"the header {problem}:", header)
    return found.pop()


def _checked(value: bytes) -> int:
    value = value.strip()
    if not value.isdigit():
        _refuse("Content-Length is to be a number of bytes, and is", value)
    length = int(value)
    if length > MAX_BODY:
        _refuse(f"Content-Length is to be at most {MAX_BODY} bytes, and is", value)
    return length


def _refuse(problem: str, what: bytes) -> NoReturn:
    more = "..." if len(what) > _SHOWN else ""
    raise ProtocolError(f"{problem} {what[:_SHOWN].decode('ascii', 'backslashreplace')!r}{more}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_from_json = reader(parse_constant=_no_constant)


def _parse(body: bytes | bytearray) -> dict[str, Any]:
    try:
        message = _from_json(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ProtocolError(f"the body of a message is not UTF-8: {error.reason} at byte {error.start}") from error
    except RecursionError as error:
        raise ProtocolError("the body of a message is nested too deeply") from error
    except ValueError as error:
        raise ProtocolError(f"the body of a message is not JSON: {error}") from error
    if not isinstance(message, dict):
        _refuse("the body of a message is to be a JSON object, and is", bytes(body[: _SHOWN + 1]))
    return message
