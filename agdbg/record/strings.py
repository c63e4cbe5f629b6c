"""The writing side of ``strings.jsonl``: op names, texts and source sites become small numbers.

Interning happens on the hot path and does as little as it can; a site is only resolved to file, line and
source text when the recorder asks for the lines, before it writes the records that use the new ids.
"""

import itertools
import json
import os
import threading
from collections.abc import Callable
from functools import partial
from types import CodeType
from typing import TypeVar

from agdbg.sources import instruction_at, line_of

_dumps = json.dumps  # the program may replace it

Line = dict[str, object]
Position = tuple[int | None, int | None, int | None, int | None]
K = TypeVar("K")

#: Characters of source text kept of one line; generated code has lines of a megabyte.
TEXT_LIMIT = 1000
_NOWHERE: Position = (None, None, None, None)


class StringTable:
    """Interned strings with one numbering for all kinds, starting at 1. Safe from several threads."""

    def __init__(self) -> None:
        self._next = itertools.count(1).__next__
        self._ops: dict[tuple[str, tuple[str, ...]], int] = {}
        self._texts: dict[str, int] = {}
        self._lines_of: dict[tuple[str, int, str, str], int] = {}
        self._sites: dict[tuple[int, int], int] = {}
        self._codes: dict[int, CodeType] = {}  # kept alive, so that an id() in _sites is never reused
        #: Strings that are interned and not yet written; the recorder drops them from the front.
        self.waiting: list[tuple[int, Callable[[], Line]]] = []
        self._positions: tuple[CodeType | None, list[Position]] = (None, [])
        self.renew_lock()

    def renew_lock(self) -> None:
        """Forget a lock that another thread held when this process was forked."""
        self._lock = threading.RLock()

    def op(self, name: str, slots: tuple[str, ...] = ()) -> int:
        """The id of an op with the names of what its nodes save, in slot order."""
        key = (name, slots)
        return self._ops.get(key) or self._add(self._ops, key, partial(op_line, name, slots))

    def text(self, s: str) -> int:
        """The id of a text: a name, a message."""
        return self._texts.get(s) or self._add(self._texts, s, partial(text_line, s))

    def site(self, code: CodeType, lasti: int) -> int:
        """The id of a place in Python code: ``frame.f_code``, ``frame.f_lasti``. The code is kept alive."""
        key = (id(code), lasti)
        known = self._sites.get(key)
        if known is not None:
            return known
        self._codes[id(code)] = code
        begins = instruction_at(code, lasti)
        number = self._add(self._sites, (id(code), begins), partial(self._resolve, code, begins))
        self._sites[key] = number
        return number

    def site_at(self, file: str, line: int, func: str = "", text: str = "") -> int:
        """The id of a source line that an engine knows otherwise than by a code object.

        Columns are unknown; ``text`` is read from the file when it is not given.
        """
        key = (file, line, func, text)
        known = self._lines_of.get(key)
        return known or self._add(self._lines_of, key, partial(site_line, file, (line, line, None, None), func, text))

    def _add(self, table: dict[K, int], key: K, describe: Callable[[], Line]) -> int:
        with self._lock:
            number = table.get(key)
            if number is None:
                number = self._next()
                self.waiting.append((number, describe))
                table[key] = number
            return number

    def lines(self) -> tuple[int, bytes]:
        """How many strings are waiting, and their lines."""
        count = len(self.waiting)
        if not count:
            return 0, b""
        lines = [{"id": number, **describe()} for number, describe in self.waiting[:count]]
        return count, "".join(_dumps(line) + "\n" for line in lines).encode()

    def _resolve(self, code: CodeType, lasti: int) -> Line:
        """Find the source of one instruction: ``lasti`` is a byte offset, an instruction is two bytes."""
        if self._positions[0] is not code:
            self._positions = (code, list(code.co_positions()))
        positions = self._positions[1]
        index = max(lasti, 0) // 2
        position = positions[index] if index < len(positions) else _NOWHERE
        if position[0] is None:
            position = (code.co_firstlineno, None, None, None)
        return site_line(absolute(code.co_filename), position, code.co_qualname, "")


def text_line(s: str) -> Line:
    """The JSON object of a text."""
    return {"k": "text", "s": s}


def op_line(name: str, slots: tuple[str, ...]) -> Line:
    """The JSON object of an op."""
    return {"k": "op", "s": name, "slots": list(slots)}


def site_line(file: str, position: Position, func: str, text: str) -> Line:
    """The JSON object of a site; ``position`` is (line, end line, column, end column)."""
    line, end_line, col, end_col = position
    text = text or line_of(file, line or 0)
    return {
        "k": "site",
        "file": file,
        "line": line or 0,
        "end_line": end_line or line or 0,
        "col": -1 if col is None else col,
        "end_col": -1 if end_col is None else end_col,
        "func": func,
        "text": text.rstrip("\r\n")[:TEXT_LIMIT],
    }


def absolute(file: str) -> str:
    """An absolute path where ``file`` names one that is there; names such as ``<stdin>`` stay."""
    return os.path.abspath(file) if os.path.exists(file) else file
