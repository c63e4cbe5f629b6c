"""Results on standard output. One that cannot be written is bad input: a full disk, a stream that is closed."""

import io
import json
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, TextIO

from agdbg.errors import InputError


def print_json(value: object) -> None:
    """Print one JSON document; all of it is ASCII, whatever the terminal's encoding."""
    print_text(json.dumps(value, indent=1))


def print_text(text: str) -> None:
    """Print text; a character that the terminal's encoding lacks is printed as its number."""
    with _standard_output() as stream:
        put(stream, text + "\n")


def write_bytes(data: bytes) -> None:
    """Write bytes."""
    with _standard_output() as stream:
        stream.flush()
        _put_all(stream.buffer, data)


def put(stream: TextIO, text: str) -> None:
    """Write all of a text; a character that the encoding of the stream lacks is written as its number."""
    if not isinstance(stream, io.TextIOWrapper):
        stream.write(text)
        return
    stream.flush()
    _put_all(stream.buffer, text.encode(stream.encoding, "backslashreplace"))


def _put_all(stream: BinaryIO, data: bytes) -> None:
    """Without a buffer (``python -u``) a write may take a part of the data and tell no error: what is printed is cut then."""
    rest = memoryview(data)
    while rest:
        try:
            written: int | None = stream.write(rest)
        except BlockingIOError as error:
            written = error.characters_written
        if not written:  # somebody has made it non-blocking, and it is full
            select.select((), (stream,), ())
        rest = rest[written or 0 :]


def flush() -> None:
    """Write what waits, if there is a stream."""
    if sys.stdout is not None:
        with _standard_output():
            pass


def drop() -> None:
    """Let Python's last flush go nowhere, so that it does not complain as well."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


@contextmanager
def _standard_output() -> Iterator[TextIO]:
    """The stream, flushed at the end.

    Raises:
        InputError: it cannot be written.
        BrokenPipeError: its reader is gone.
    """
    stream = sys.stdout
    if stream is None or stream.closed:
        raise InputError("cannot write to standard output: it is closed")
    try:
        yield stream
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        drop()
        raise InputError(f"cannot write to standard output: {error.strerror or error}") from None
