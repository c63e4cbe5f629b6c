"""Edges as records tell them, in arrays: any number of nodes at a cost of a few NumPy calls."""

from typing import NamedTuple

import numpy as np

from agdbg.events import PROVENANCE_MASK, Kind
from agdbg.graph.row_nodes import births_of
from agdbg.record.growing import Growing, Mask, Numbers, Words
from agdbg.record.index import Rows
from agdbg.record.nodes import EDGE_LIMIT
from agdbg.record.tellings import strongest

_NODE = np.uint64((1 << 48) - 1)
_FLAGS = np.uint64(8)


class Told(NamedTuple):
    """Edges as they were told, one a row, from input ``nr`` of ``source``; target 0: there is none."""

    source: Words
    nr: Words
    target: Words
    provenance: Numbers
    age: Numbers

    def only(self, chosen: Mask) -> "Told":
        """Some of them."""
        if chosen.all():
            return self
        source, nr, target, provenance, age = self
        return Told(source[chosen], nr[chosen], target[chosen], provenance[chosen], age[chosen])


def node_of(words: Words) -> Words:
    """The nodes of EDGE words."""
    nodes: Words = words & _NODE
    return nodes


def told_at_birth(growing: Growing, births: Rows) -> Told:
    """The edges in birth records; an input without one there is told elsewhere, or has none."""
    records = growing.records[births]
    targets = node_of(records[:, 4:6].reshape(-1))
    at = np.flatnonzero(targets)
    birth = at >> 1
    provenance = _provenance(records[:, 0])[birth]
    return Told(records[birth, 1], (at & 1).astype(np.uint64), targets[at], provenance, np.full(len(at), -1))


def told_late(growing: Growing, rows: Rows) -> Told:
    """The edges in EDGE records."""
    records = growing.records[rows]
    edges = Told(records[:, 1], records[:, 2], node_of(records[:, 3]), _provenance(records[:, 0]), rows)
    return edges.only(edges.nr < EDGE_LIMIT)


def joined(one: Told, other: Told) -> Told:
    """Both."""
    return Told(*(np.concatenate(both) for both in zip(one, other, strict=True)))


def valid(growing: Growing, births: Rows, late: Rows) -> Told:
    """The edges of birth and EDGE records that count: of several tellings of one the strongest, if it is an edge."""
    edges = told_at_birth(growing, births)
    if len(late):
        edges = joined(edges, told_late(growing, late))
        edges = edges.only(strongest(edges.source, edges.nr, edges.provenance, edges.age))
    return edges.only(edges.target != 0)


def edges_of(growing: Growing, nodes: Words) -> Told:
    """The edges that count of those of these nodes that were born; each node is named once."""
    births = births_of(growing, nodes)
    born = growing.records[births, 1]
    _, late = growing.index(Kind.EDGE).all(born)
    return valid(growing, births, late)


def edges_to(growing: Growing, nodes: Words) -> Told:
    """The edges that count and lead to these nodes."""
    births = [growing.index(Kind.BORN, column).all(nodes)[1] for column in (4, 5)]
    late = growing.index(Kind.EDGE, 3).all(nodes)[1]
    users = np.unique(growing.records[np.concatenate([*births, late]), 1])
    edges = edges_of(growing, users)
    return edges.only(np.isin(edges.target, nodes))


def _provenance(heads: Words) -> Numbers:
    return (heads >> _FLAGS & np.uint64(PROVENANCE_MASK)).astype(np.int64)
