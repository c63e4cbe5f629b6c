"""What every query stands on: the rows of a kind, the rows about an id, and their words."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from agdbg.events import Kind, unpack_site_op
from agdbg.record.index import KindIndex, RowIndex, Rows
from agdbg.record.lookup import Op, Site
from agdbg.record.reader import Trace


class ById(Protocol):
    """Rows by id, of a trace that is whole or of one that grows."""

    @property
    def ids(self) -> npt.NDArray[np.uint64]:
        """All ids, each once, ascending."""

    def rows(self, number: int) -> list[int]:
        """The rows of an id, ascending."""

    def last(self, number: int) -> int:
        """The last row of an id, or -1."""


class Indexed:
    """A trace with indexes over its records, each made when it is first needed."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._by_kind = KindIndex(trace.kinds)
        self._by_id: dict[Kind, RowIndex] = {}

    def rows(self, kind: Kind) -> Rows:
        """The row numbers of all records of a kind, ascending."""
        return self._by_kind.rows(kind)

    def rows_about(self, kind: Kind, number: int) -> list[int]:
        """The row numbers of the records of a kind whose main entity is ``number``, ascending."""
        return self.index(kind).rows(number)

    def words(self, row: int) -> list[int]:
        """The eight words of a record as Python ints."""
        words: list[int] = self.trace.records[row].tolist()
        return words

    def index(self, kind: Kind) -> ById:
        """The records of a kind by the id of their main entity."""
        index = self._by_id.get(kind)
        if index is None:
            rows = self.rows(kind)
            index = self._by_id[kind] = RowIndex(self.trace.records[rows, 1], rows)
        return index

    def site_and_op(self, word: int) -> tuple[Site, Op]:
        """What a SITE_OP word stands for."""
        site, op = unpack_site_op(word)
        return self.trace.site(site), self.trace.op(op)
