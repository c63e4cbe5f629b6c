"""Where the user's code called the engine: ``(code, lasti)`` of the nearest frame outside this package.

Two attribute reads per op; file, line and column are looked up only when somebody asks (:func:`where`), since
the line table of a long function takes tens of microseconds to scan.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterator
from itertools import islice
from sys import _getframe
from types import CodeType, FrameType
from typing import NamedTuple


def sources(folder: str) -> Iterator[str]:
    """The names of the files of Python in and below ``folder``."""
    for here, folders, files in os.walk(folder):
        if "__pycache__" in folders:
            folders.remove("__pycache__")
        yield from (os.path.join(here, name) for name in files if name.endswith(".py"))


INTERNAL: set[str] = set(sources(os.path.dirname(__file__)))
"""File names of the engine itself, and of instruments that call it: frames of these are never the user's."""

RUNNERS: set[str] = set()
"""Those of :data:`INTERNAL` that run a whole program: what called them is not the user's either."""


def user_frame(frame: FrameType) -> FrameType:
    """The nearest frame at or above ``frame`` that is not the engine's (the outermost one if all are)."""
    while frame.f_code.co_filename in INTERNAL:
        back = frame.f_back
        if back is None:
            return frame
        frame = back
    return frame


def caller() -> tuple[CodeType, int]:
    """``(code, lasti)`` of the user's frame that is calling into the engine now."""
    frame = user_frame(_getframe(1))
    return frame.f_code, frame.f_lasti


def user_stacklevel() -> int:
    """The ``stacklevel`` with which a warning from the function that calls this shows the user's line."""
    frame, level = _getframe(1), 1
    while frame.f_code.co_filename in INTERNAL and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    return level


class Where(NamedTuple):
    """A resolved site."""

    file: str
    line: int
    function: str
    text: str

    def __str__(self) -> str:
        return f'File "{self.file}", line {self.line}, in {self.function}: {self.text}'


def where(code: CodeType, lasti: int) -> Where:
    """Resolve a site to file, line, function and source text (empty when the source cannot be read)."""
    position = next(islice(code.co_positions(), lasti // 2, None), None)
    line = (position and position[0]) or code.co_firstlineno
    text = linecache.getline(code.co_filename, line).strip()
    return Where(code.co_filename, line, code.co_qualname, text)
