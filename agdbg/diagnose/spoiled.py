"""Where a bad gradient ended up: in which leaves, in which of their elements, and when an update carried it into them."""

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.measured import PassValues
from agdbg.diagnose.source import operand
from agdbg.diagnose.walk import Mask
from agdbg.events import Kind
from agdbg.record.deep_facts import SummaryFact
from agdbg.record.facts import PassFact

#: Uses of a leaf that are looked at for its name.
LOOKED_AT = 20


def escaped(case: Case, call: PassFact, values: PassValues, bad: Mask) -> tuple[int, ...]:
    """The places of the leaves whose gradient is bad; of a call of ``grad`` of what it was asked for.

    A node that was sent a bad gradient and never ran in the pass is one that ``grad`` was asked for.
    """
    walk = case.walk
    leaves = values.came_bad & walk.leaves
    edges = walk.edges
    ran = values.came
    sent = edges.target[bad[edges.source] & values.went_bad[edges.source]]
    asked = np.zeros(len(leaves), bool)
    if call.call == "grad" and len(sent):
        asked[sent] = True
        asked &= ~ran
    return tuple(np.flatnonzero(leaves | asked).tolist())


def leaf_words(case: Case, place: int) -> str:
    """What a leaf is called, in quotes; empty when it has no name."""
    node = int(case.walk.ids[place])
    name = case.facts.name_of_leaf(node)
    if name:
        return f"`{name}`"
    edges = case.walk.edges
    for at in np.flatnonzero(edges.target == place)[:LOOKED_AT].tolist():
        above = case.facts.node(int(case.walk.ids[edges.source[at]]))
        used = operand(above.site, above, int(edges.index[at])) if above is not None else ""
        if used:
            return f"`{used}`"
    return ""


def storage_of_leaf(case: Case, node: int) -> int:
    """The storage of a leaf, 0 when it is not known."""
    named = next((each.storage for each in case.facts.tensors if each.producer == node), 0)
    if named:
        return named
    shape = case.facts.shape(node)
    return shape.storage if shape is not None else 0


def spoiled_at(case: Case, call: PassFact, leaves: tuple[int, ...]) -> int:
    """The row in which a leaf with a bad gradient was written after the pass, 0 for never: from there on all is a consequence."""
    rows = case.facts.rows(Kind.BUMP)
    rows = rows[rows > call.end_row]
    if not len(rows) or not leaves:
        return 0
    storages = {storage_of_leaf(case, int(case.walk.ids[place])) for place in leaves[:100]} - {0}
    if not storages:
        return int(rows[0])
    mine = rows[np.isin(case.facts.trace.records[rows, 1], np.array(sorted(storages), np.uint64))]
    return int(mine[0]) if len(mine) else 0


def elements_words(case: Case, seen: SummaryFact) -> str:
    """How many elements are bad, and where the first one is."""
    parts = [
        f"{number:,} {'are' if number > 1 else 'is'} {word}"
        for number, word in ((seen.nans, "NaN"), (seen.infs, "infinite"))
        if number
    ]
    where = f", the first at {_place_words(case, seen)}" if seen.first_bad is not None and seen.elements > 1 else ""
    return f"of {seen.elements:,} element{'' if seen.elements == 1 else 's'} {' and '.join(parts)}{where}"


def _place_words(case: Case, seen: SummaryFact) -> str:
    """The index of the first bad element, in as many dimensions as the tensor has when that is known."""
    flat = seen.first_bad or 0
    dims = _dims(case, seen)
    if not dims or int(np.prod(dims)) <= flat:
        return f"element {flat:,}"
    return f"[{', '.join(str(int(each)) for each in np.unravel_index(flat, dims))}]"


def _dims(case: Case, seen: SummaryFact) -> tuple[int, ...]:
    """The shape of what was measured: a gradient has that of the value it belongs to."""
    node, output = seen.node, seen.index
    if seen.what == "gradient out":
        born = case.facts.node(seen.node)
        edge = born.edges[seen.index] if born is not None and seen.index < len(born.edges) else None
        if edge is None:
            return ()
        node, output = edge.node, edge.nr
    shape = case.facts.shape(node, output)
    return shape.dims if shape is not None else ()
