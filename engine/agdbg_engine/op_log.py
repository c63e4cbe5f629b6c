"""A log of the ops that a function ran, and where two runs of it begin to differ."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from . import events
from .grad_mode import mode
from .node import Node
from .sites import caller, where
from .tensor import Tensor

_CONSTANTS = (bool, int, float, complex, str, np.dtype, type(None))


class Entry(NamedTuple):
    """One op: its name, what it made, its arguments that are no tensors, and the user's line."""

    name: str
    shape: tuple[int, ...]
    dtype: Any
    constants: tuple[Any, ...]
    code: CodeType
    lasti: int

    def same(self, other: Entry) -> bool:
        """Whether this may be ``other`` run again: the line does not matter."""
        return self[:3] == other[:3] and repr(self.constants) == repr(other.constants)

    def __str__(self) -> str:
        constants = f" with {', '.join(map(repr, self.constants))}" if self.constants else ""
        return f"{self.name}{constants} -> {self.dtype} {list(self.shape)} at {where(self.code, self.lasti)}"


class OpLog:
    """The ops of one run, in order.

    ``parent`` is the log of the function around, which gets them too. With ``table_only`` ops that are only noticed when they
    are recorded are left out: they would be missing where nothing is.
    """

    def __init__(self, parent: OpLog | None = None, table_only: bool = False) -> None:
        self.entries: list[Entry] = []
        self._parent = parent
        self._table_only = table_only
        self._told: int | None = None

    def op(self, name: str, out: Tensor, arguments: tuple[Any, ...]) -> None:
        """An op of the table made ``out``."""
        constants = tuple(a for a in arguments if isinstance(a, _CONSTANTS) or _plain(a))
        self._add(Entry(name, out._a.shape, out._a.dtype, constants, *caller()))
        self._told = id(out) if out._fn is not None else None

    def born(self, node: Node, out: Tensor) -> None:
        """``node`` was recorded: one of an op that is not in the table, unless :meth:`op` has just told of it."""
        if self._told != id(out) and not self._table_only:
            self._add(Entry(node.op_name, out._a.shape, out._a.dtype, (), node.code, node.lasti))
        self._told = None

    def _add(self, entry: Entry) -> None:
        log: OpLog | None = self
        while log is not None:
            log.entries.append(entry)
            log = log._parent


def _plain(x: Any) -> bool:
    return isinstance(x, tuple) and all(isinstance(i, int) for i in x)


@contextmanager
def logging(log: OpLog) -> Iterator[None]:
    """Write the ops of this thread into ``log``."""
    before, mode.op_log = mode.op_log, log
    events.use(events.OP_LOG)
    try:
        yield
    finally:
        events.use(events.OP_LOG, -1)
        mode.op_log = before


class Difference(NamedTuple):
    """The first op that is not the same in two runs; ``None`` for the run that did nothing more."""

    number: int
    first: Entry | None
    second: Entry | None

    def lines(self) -> list[str]:
        """What to tell a person."""
        return [
            f"the first op that differs is number {self.number + 1} of the function:",
            f"  first run:     {self.first or 'nothing more'}",
            f"  recomputation: {self.second or 'nothing more'}",
        ]


def difference(first: list[Entry], second: list[Entry], stopped: bool) -> Difference | None:
    """Where ``second`` begins to differ from ``first``; if it was ``stopped`` it may be shorter."""
    for i, (a, b) in enumerate(itertools.zip_longest(first, second)):
        if b is None and stopped:
            return None
        if a is None or b is None or not a.same(b):
            return Difference(i, a, b)
    return None
