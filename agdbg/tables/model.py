"""What a table is: named columns with types, and rows made from the facts of a trace, some thousands at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from agdbg.record import Facts

Type = Literal["integer", "real", "text", "boolean"]
Row = tuple[Any, ...]

#: Rows that are made at a time.
CHUNK = 20_000
#: Numbers from here on are no numbers of anything: the trace is damaged, and the cell is empty.
_TOO_BIG = 1 << 63


class Column(NamedTuple):
    """A column: its name, its type, and what is in it."""

    name: str
    type: Type
    says: str


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        name: how it is called.
        says: what one row is.
        columns: its columns.
        rows: makes the rows of a trace; cells are int, float, str, bool or None.
        keys: columns by which it is looked up.
    """

    name: str
    says: str
    columns: tuple[Column, ...]
    rows: Callable[[Facts], Iterator[Row]]
    keys: tuple[str, ...] = ()


def table(
    name: str, says: str, columns: str, rows: Callable[[Facts], Iterator[Row]], keys: Sequence[str] = ()
) -> Table:
    """A table whose columns are given as lines ``name type what is in it``."""
    parts = [line.split(maxsplit=2) for line in columns.strip().splitlines()]

    def checked(facts: Facts) -> Iterator[Row]:
        return (row if _fits(row) else tuple(map(_fitting, row)) for row in rows(facts))

    return Table(name, says, tuple(Column(*part) for part in parts), checked, tuple(keys))  # type: ignore[arg-type]  # a type is a word


def rows_of(*columns: Any) -> Iterator[Row]:
    """Rows out of columns: arrays, or sequences as long."""
    count = len(columns[0])
    for start in range(0, count, CHUNK):
        yield from zip(*(_cells(column[start : start + CHUNK]) for column in columns), strict=True)


def _cells(column: Any) -> list[Any]:
    """The cells as plain Python values."""
    if not isinstance(column, np.ndarray):
        return list(column)
    cells: list[Any] = column.tolist()
    return cells


def _fits(row: Row) -> bool:
    return all(cell.__class__ is not int or cell < _TOO_BIG for cell in row)


def _fitting(cell: Any) -> Any:
    return None if cell.__class__ is int and cell >= _TOO_BIG else cell


def or_none(column: Any) -> list[Any]:
    """Zeros, which stand for nothing, as None."""
    return [cell or None for cell in _cells(column)]
