"""Strings of two traces under one numbering: equal numbers mean equal names, texts and places."""

import re
from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from agdbg.record.lookup import Site
from agdbg.record.reader import Trace

Words = npt.NDArray[np.uint64]

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")
_FOLDERS = re.compile(r"[^\s\"'(<]*[/\\](?=[^/\\\s]+)")
_LINE = re.compile(r"(\bline |:)\d+")


class Joined:
    """The numbering. Folders, addresses and, when lines may have moved, line numbers do not count.

    Args:
        moved: the lines of the script may have moved: a place is known by its function and its text.
    """

    def __init__(self, moved: bool = False) -> None:
        self._moved = moved
        self._numbers: dict[Hashable, int] = {}

    def sites(self, trace: Trace, ids: Words) -> Words:
        """Numbers for the string ids of places."""
        return self._mapped(ids, lambda number: ("site", self._place(trace.site(number))))

    def ops(self, trace: Trace, ids: Words) -> Words:
        """Numbers for the string ids of ops."""
        return self._mapped(ids, lambda number: ("op", trace.op(number)))

    def texts(self, trace: Trace, ids: Words) -> Words:
        """Numbers for the string ids of texts."""
        return self._mapped(ids, lambda number: ("text", self.text(trace.text(number))))

    def text(self, text: str) -> str:
        """A text without what differs from run to run."""
        text = _FOLDERS.sub("", _ADDRESS.sub("0x", text))
        return _LINE.sub(r"\1", text) if self._moved else text

    def _place(self, site: Site) -> Hashable:
        file = re.split(r"[\\/]", site.file)[-1]
        if self._moved:
            return file, site.func, site.text.strip(), site.col
        return file, site.line, site.col, site.end_col, site.func, site.text

    def _mapped(self, ids: Words, key: Any) -> Words:
        unique, inverse = np.unique(ids, return_inverse=True)
        numbers = [self._number(key(number)) if number else 0 for number in unique.tolist()]
        found: Words = np.array(numbers, np.uint64)[inverse].reshape(ids.shape)
        return found

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers) + 1)
