"""JSON without spaces, for messages: what is the same for all of them is made once.

A step is eight messages written and read. To make the encoder of the standard library anew for each, as its ``encode`` does,
takes as long as to use it. A debugged program may replace what :mod:`json` has: nothing is looked up there later.
"""

import json
from collections.abc import Callable
from json import encoder
from typing import Any


def writer(*, allow_nan: bool = True, default: Callable[[Any], Any] | None = None) -> Callable[[Any], str]:
    """A function that writes a value as ASCII, without looking for circles.

    Args:
        allow_nan: whether NaN and infinities are written, which are no JSON, or raise ValueError.
        default: makes something that has a form in JSON of what has none; None: that raises TypeError.
    """
    plain = json.JSONEncoder(separators=(",", ":"), check_circular=False, allow_nan=allow_nan, default=default)
    make: Any = getattr(encoder, "c_make_encoder", None)  # of CPython, and not part of what it promises
    if make is None:
        return plain.encode
    pieces_of = make(
        None, plain.default, encoder.encode_basestring_ascii, None, ":", ",", False, False, allow_nan
    )  # as `JSONEncoder.iterencode` does
    join = "".join

    def write(value: Any) -> str:
        return join(pieces_of(value, 0))

    return write


def reader(*, parse_constant: Callable[[str], Any] | None = None) -> Callable[[str], Any]:
    """A function that reads a text, and raises what :func:`json.loads` raises.

    Args:
        parse_constant: called with ``NaN`` and the like, which are no JSON; None: they are read.
    """
    decoder = json.JSONDecoder(parse_constant=parse_constant)
    raw, decode = decoder.raw_decode, decoder.decode

    def read(text: str) -> Any:
        try:
            value, end = raw(text)
        except json.JSONDecodeError:
            return decode(text)  # there may be space before it
        return value if end == len(text) else decode(text)

    return read
