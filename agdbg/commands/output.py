"""Results on standard output. One that cannot be written is bad input: a full disk, a stream that is closed."""

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from agdbg.errors import InputError


def print_json(value: object) -> None:
    """Print one JSON document; all of it is ASCII, whatever the terminal's encoding."""
    with _standard_output() as stream:
        print(json.dumps(value, indent=1), file=stream)


def print_text(text: str) -> None:
    """Print text; a character that the terminal's encoding lacks is printed as its number."""
    with _standard_output() as stream:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        print(text, file=stream)


def write_bytes(data: bytes) -> None:
    """Write bytes."""
    with _standard_output() as stream:
        stream.buffer.write(data)


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
