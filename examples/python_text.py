"""The text that the language models of the examples learn: Python's own licence, found where Python is installed."""

from __future__ import annotations

import builtins
import inspect
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import numpy as np

NAMES = ("LICENSE.txt", "LICENSE")


class Text:
    """A text as numbers: `codes` has one int64 a character, and `alphabet` the character of each number."""

    def __init__(self, text: str) -> None:
        self.alphabet = sorted(set(text))
        number = {character: n for n, character in enumerate(self.alphabet)}
        self.codes = np.array([number[character] for character in text])

    def decode(self, codes: Iterable[int]) -> str:
        """The characters of these numbers."""
        return "".join(self.alphabet[code] for code in codes)


def load_text(length: int) -> Text:
    """Return the first `length` characters of the licence; where Python came without it, of the docstrings of its builtins."""
    text = _licence() or "\n\n".join(inspect.getdoc(thing) or "" for thing in vars(builtins).values())
    return Text(text[:length])


def _licence() -> str | None:
    library = Path(sysconfig.get_path("stdlib"))
    for path in (folder / name for folder in (library, library.parent) for name in NAMES):
        if path.is_file():
            return path.read_text(encoding="utf-8")
    return None
