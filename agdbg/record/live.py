"""The facts of a trace that grows: :class:`LiveFacts` answers like :class:`Facts`, from indexes that grow with it."""

from collections.abc import Iterable, Set
from functools import cached_property

from agdbg.events import Kind
from agdbg.record.deep import STORAGE_OF_SHAPE
from agdbg.record.facts import NodeFact, TensorFact
from agdbg.record.growing import Growing, GrowingIndex
from agdbg.record.index import Rows
from agdbg.record.module_stacks import ModuleStacks
from agdbg.record.query import Facts, names_of
from agdbg.record.reader import Trace
from agdbg.record.undone import Undone

_ABOUT_NODES = (Kind.BORN, Kind.EDGE, Kind.SAVED)
"""The kinds of record of which a :class:`NodeFact` is made."""
_REMEMBERED = 1024
"""Nodes that are remembered at most."""


class LiveFacts(Facts):
    """The facts of a trace as far as ``growing`` has read it.

    What was asked once is remembered, so a trace that has grown needs a new object, which is cheap: only the growing
    indexes live on, and what nodes are as long as none was born. Meant for questions about single nodes; what asks for all
    passes or all tensors builds them all.

    Args:
        trace, growing, undone: the trace, and what grows with it.
        before: the facts when the trace was shorter, in the same ``growing``.
    """

    def __init__(
        self, trace: Trace, growing: Growing, undone: Undone | None = None, before: "LiveFacts | None" = None
    ) -> None:
        self.trace = trace
        self._growing = growing
        self._undone = undone or Undone(growing)
        self._undone.update(trace)
        self._born = len(trace.strings), *(len(growing.rows(kind)) for kind in _ABOUT_NODES)
        self._asked: dict[int, NodeFact | None] = (
            before._asked if before is not None and before._born == self._born else {}
        )

    def node(self, number: int) -> NodeFact | None:
        """As :meth:`Facts.node`; what shows one node asks for it, and for its neighbours, several times."""
        if number not in self._asked:
            if len(self._asked) >= _REMEMBERED:
                self._asked.clear()
            self._asked[number] = super().node(number)
        return self._asked[number]

    @cached_property
    def void(self) -> Set[int]:
        """The rows of what was taken back later by stepping back."""
        return self._undone.rows

    def void_about(self, nodes: Iterable[int]) -> frozenset[int]:
        """The rows of runs and frees among them that are about some nodes."""
        return self._undone.about(nodes)

    def rows(self, kind: Kind) -> Rows:
        """The row numbers of all records of a kind, ascending."""
        return self._growing.rows(kind)

    def rows_about(self, kind: Kind, number: int) -> list[int]:
        """The row numbers of the records of a kind whose main entity is ``number``, ascending."""
        return self._growing.about(kind, number)

    def index(self, kind: Kind) -> GrowingIndex:
        """The records of a kind by the id of their main entity."""
        return self._growing.index(kind)

    def names(self, storage: int) -> list[str]:
        """The names of the tensors on a storage, each once: parameters, then buffers, then variables."""
        return names_of(self._named(2, storage))

    def name_of_leaf(self, node: int) -> str | None:
        """The name of the leaf whose gradient a node accumulates, or None when it has none."""
        names = names_of(self._named(3, node)) if node else []
        return names[0] if names else None

    def savers(self, storage: int) -> list[int]:
        """The nodes that saved something on a storage, ascending."""
        told = self._growing.index(Kind.SAVED, 3).rows(storage)
        born = [row for column in (6, 7) for row in self._growing.index(Kind.BORN, column).rows(storage)]
        return sorted({int(self.trace.records[row, 1]) for row in (*told, *born)})

    def _named(self, column: int, number: int) -> list[TensorFact]:
        return [self.tensor(row) for row in self._growing.index(Kind.TENSOR, column).rows(number)]

    @cached_property
    def _runs_by_pass(self) -> GrowingIndex:
        return self._growing.index(Kind.RAN, 2)

    @cached_property
    def _stacks(self) -> ModuleStacks:
        return self._growing.stacks()

    @cached_property
    def _shapes_by_storage(self) -> GrowingIndex:
        return self._growing.index(Kind.SHAPE, STORAGE_OF_SHAPE)
