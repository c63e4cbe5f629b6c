"""What agdbg says beside a running program: lines on standard error, each marked as agdbg's own."""

import sys
from contextlib import suppress
from typing import TextIO

#: Every line that agdbg writes on standard error begins with this (an empty one is the mark alone).
MARK = "agdbg:"


def tell(text: str) -> None:
    """Write ``text`` on the process's standard error, each line marked.

    The stream is the one the process began with, since ``sys.stderr`` may be the program's own object by now.
    One that is closed, full or gone is no reason to fail.
    """
    stream = sys.__stderr__
    if stream is None:
        return
    marked = "".join(f"{MARK} {line}".rstrip() + "\n" for line in text.split("\n"))
    with suppress(OSError, ValueError):
        stream.flush()
        _write(stream, marked)


def _write(stream: TextIO, text: str) -> None:
    """Past the buffer of ``stream``: what stays in there after an error would be an error once more when Python ends, and give
    the program another exit status."""
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    if raw is None:  # a stream of the program's own making
        stream.write(text)
        stream.flush()
        return
    rest = text.encode(stream.encoding or "utf-8", stream.errors or "backslashreplace")
    while rest and (written := raw.write(rest)):  # nothing written is no error, but trying again makes it no better
        rest = rest[written:]
