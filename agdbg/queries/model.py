"""What a named query is, and what it answers."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, overload

from agdbg.errors import InputError
from agdbg.record import Facts
from agdbg.record.lookup import Site

Row = tuple[Any, ...]


class Rows(Sequence[Row]):
    """Rows of which each is made when it is looked at: ``make`` makes the one with a number."""

    def __init__(self, count: int, make: Callable[[int], Row]) -> None:
        self._numbers, self._make = range(count), make

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> Row: ...

    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...

    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        if isinstance(at, slice):
            return [self._make(number) for number in self._numbers[at]]
        return self._make(self._numbers[at])


@dataclass(frozen=True)
class Answer:
    """A table: the names of its columns, and rows of int, float, str, bool or None."""

    columns: tuple[str, ...]
    rows: Sequence[Row]


@dataclass(frozen=True)
class Query:
    """A question: its name, what it asks, and what answers it; some are about one storage, 0 for all."""

    name: str
    says: str
    ask: Callable[[Facts, int], Answer]
    about_storage: bool = False


def line(site: Site) -> str:
    """``train.py:12``."""
    name = re.split(r"[\\/]", site.file)[-1]
    return f"{name}:{site.line}" if site.line else name


def storage_of(facts: Facts, word: str) -> int:
    """The storage with a number, or that of the tensor with a name.

    Raises:
        InputError: there is none.
    """
    if word.isdecimal():
        return int(word)
    found = [tensor.storage for tensor in facts.tensors if tensor.name == word]
    if not found:
        names = sorted({tensor.name for tensor in facts.tensors if tensor.name})
        known = f"; there are {', '.join(names[:10])}{' and more' if len(names) > 10 else ''}" if names else ""
        raise InputError(f"--storage {word}: no tensor is called that{known}")
    return found[-1]
