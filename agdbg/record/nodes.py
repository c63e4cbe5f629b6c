"""Queries about nodes: what they are, where their edges lead and what they saved."""

import numpy as np
import numpy.typing as npt

from agdbg.events import NOTHING, Kind, a_of, provenance_of, thread_of, unpack_edge, unpack_save
from agdbg.record.base import Indexed
from agdbg.record.facts import EdgeFact, NodeFact, SaveFact
from agdbg.record.lookup import Op

#: An input number from here on is taken for damage and not for a node with so many inputs.
EDGE_LIMIT = 1 << 20


class NodeFacts(Indexed):
    """The nodes of a trace."""

    @property
    def node_ids(self) -> npt.NDArray[np.uint64]:
        """The ids of all nodes that were born, ascending."""
        return self.index(Kind.BORN).ids

    def node(self, number: int) -> NodeFact | None:
        """A node, or None when its birth was not recorded. A second birth record replaces the first."""
        row = self.index(Kind.BORN).last(number)
        if row < 0:
            return None
        words = self.words(row)
        site, op = self.site_and_op(words[3])
        edges, saves = self._edges(words), self._saves(words, op)
        return NodeFact(number, op, words[2], site, edges, saves, row, thread_of(words[0]))

    def _edges(self, born: list[int]) -> tuple[EdgeFact, ...]:
        """The edges by input: those in the birth record, then those told by EDGE records."""
        found: dict[int, EdgeFact] = {}
        for index, word in enumerate(born[4:6]):
            if word != NOTHING:
                found[index] = EdgeFact(*unpack_edge(word), provenance_of(born[0]))
        for row in self.rows_about(Kind.EDGE, born[1]):
            words = self.words(row)
            if words[2] >= EDGE_LIMIT:
                continue
            edge = EdgeFact(*unpack_edge(words[3]), provenance_of(words[0]))
            if words[2] not in found or edge.provenance <= found[words[2]].provenance:
                found[words[2]] = edge
        count = max((index + 1 for index in found), default=0)
        none = EdgeFact(0, 0, provenance_of(born[0]))
        return tuple(found.get(index, none) for index in range(max(count, a_of(born[0]))))

    def _saves(self, born: list[int], op: Op) -> tuple[SaveFact, ...]:
        """The saves in slot order: those in the birth record, then those told by SAVED records."""
        found: dict[int, SaveFact] = {}
        for word in born[6:8]:
            if word != NOTHING:
                storage, version, slot = unpack_save(word)
                found[slot] = SaveFact(op.slot(slot), storage, version, provenance_of(born[0]))
        for row in self.rows_about(Kind.SAVED, born[1]):
            head, _, slot, storage, version, *_ = self.words(row)
            save = SaveFact(op.slot(slot), storage, version, provenance_of(head))
            if slot not in found or save.provenance <= found[slot].provenance:
                found[slot] = save
        return tuple(found[slot] for slot in sorted(found))
