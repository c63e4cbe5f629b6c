"""Two backward passes that meet in one graph: which nodes both go through, and how the second gets there."""

from dataclasses import dataclass

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.walk import Mask
from agdbg.events import Provenance
from agdbg.record.facts import NodeFact, PassFact

#: Entries that are looked at; more are as good as the first ones.
ENTRIES = 64


@dataclass(frozen=True)
class Entry:
    """An edge that leads from the second pass's own part of the graph into the part that the first pass ran.

    ``consumer`` used, as its input ``index``, what ``node`` had made.
    """

    node: NodeFact
    consumer: NodeFact | None
    index: int


@dataclass(frozen=True)
class Meeting:
    """Where two passes meet.

    Attributes:
        first, second: the passes.
        shared: how many nodes both go through, leaves not counted.
        saving: how many of those had saved something.
        same_root: whether both start from one output of one node.
        inner_root: whether the second starts from a node in the middle of what the first ran.
        entries: the edges into the shared part; those on a path to the node in question before the others,
            and of these the one to the youngest node first.
        leaves: the ``AccumulateGrad`` nodes below the entries, or below the shared part when it has no entry.
        anew: whether the second computes something from those leaves besides.
        observed: whether every edge that counts here was observed.
        connected: whether the recorded edges lead from the second pass's roots to the node.
    """

    first: PassFact
    second: PassFact
    shared: int
    saving: int
    same_root: bool
    inner_root: bool
    entries: tuple[Entry, ...]
    leaves: tuple[int, ...]
    anew: bool
    observed: bool
    connected: bool


def meet(case: Case, first: PassFact, second: PassFact, node: int) -> Meeting:
    """Find where ``second`` comes upon what ``first`` ran, on its way to ``node``."""
    walk, facts = case.walk, case.facts
    roots = walk.mask(root for root, _ in second.roots)
    reached = walk.below(roots)
    target = walk.mask([node])
    ran = walk.mask(facts.ran(first.id)) | target
    shared = reached & ran & ~walk.leaves
    entries = _entries(case, shared, reached, walk.above(target, reached))
    below = walk.below(walk.mask(entry.node.id for entry in entries) if entries else shared)
    own = (reached & ~below)[walk.edges.source]
    return Meeting(
        first=first,
        second=second,
        shared=int(shared.sum()),
        saving=int((shared & (walk.saving | target)).sum()),
        same_root=bool(set(first.roots) & set(second.roots)),
        inner_root=bool((roots & shared).any()),
        entries=entries,
        leaves=tuple(walk.ids[below & walk.leaves].tolist()),
        anew=bool((own & (below & walk.leaves)[walk.edges.target]).any()),
        observed=_observed(case, reached),
        connected=bool((reached & target).any()),
    )


def _entries(case: Case, shared: Mask, reached: Mask, leading: Mask) -> tuple[Entry, ...]:
    """One entry for each node that is entered, by its first consumer outside."""
    walk, edges = case.walk, case.walk.edges
    crossing = np.flatnonzero((reached & ~shared)[edges.source] & shared[edges.target])
    targets, first = np.unique(edges.target[crossing], return_index=True)
    order = np.lexsort((walk.born[targets], leading[targets]))[::-1]
    found = []
    for at in order[:ENTRIES].tolist():
        edge = crossing[first[at]]
        node = case.facts.node(int(walk.ids[targets[at]]))
        if node is not None:
            consumer = case.facts.node(int(walk.ids[edges.source[edge]]))
            found.append(Entry(node, consumer, int(edges.index[edge])))
    return tuple(found)


def _observed(case: Case, reached: Mask) -> bool:
    edges = case.walk.edges
    return not (reached[edges.source] & (edges.provenance != Provenance.OBSERVED)).any()
