"""Which node to hold responsible for a bad value in forward: infinities that were meant, and those that became NaN later.

A mask of -inf is no fault; what makes NaN of it is, as ``softmax`` of a row that is -inf throughout. An infinity that nobody meant
is the fault of the node that made it, though only a later one, as 0 * inf, makes NaN of it.
"""

from dataclasses import dataclass

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.singular import is_choosing, stem
from agdbg.diagnose.walk import Mask

#: Ops that normalise over a row: -inf in it is how elements are left out.
_OVER_ROWS = frozenset(("Softmax", "SafeSoftmax", "LogSoftmax", "Logsumexp"))


@dataclass(frozen=True)
class Maker:
    """A node, by place, that made a bad value.

    Attributes:
        place: where it is.
        became: the place of the node that made NaN of its infinities; -1 for none.
        meant: the place of the node that put in the infinities which it made NaN of, on purpose; -1 for none.
    """

    place: int
    became: int = -1
    meant: int = -1


def makers(case: Case, roots: Mask, feeding: Mask) -> list[Maker]:
    """The makers of what is bad in some roots, in the order of their birth; ``feeding``: the bad places that lead to these."""
    nans = feeding & case.measured.nan_output
    infinite = np.flatnonzero(feeding & case.measured.made_bad & ~nans).tolist()
    if not (roots & nans).any():
        own = np.flatnonzero(feeding & case.measured.made_bad).tolist()
        blamed = [each for each in own if not _chooses(case, each)] or own
        return [Maker(each) for each in _by_birth(case, blamed)]
    found: dict[int, Maker] = {}
    for place in _by_birth(case, _first_nans(case, nans)):
        below = _below(case, place, feeding, infinite)
        blamed = [each for each in below if not _is_meant(case, each, place)]
        for each in blamed:
            found.setdefault(each, Maker(each, became=place))
        if not blamed:
            found.setdefault(place, Maker(place, meant=below[0] if below else -1))
    return [found[each] for each in _by_birth(case, list(found))]


def _first_nans(case: Case, nans: Mask) -> list[int]:
    """The places with a NaN whose inputs, as far as the graph goes, have none."""
    edges = case.walk.edges
    fed = np.zeros(len(nans), bool)
    fed[edges.source[nans[edges.target]]] = True
    return np.flatnonzero(nans & ~fed).tolist()


def _below(case: Case, place: int, feeding: Mask, infinite: list[int]) -> list[int]:
    """The places that made the infinities which came to a place."""
    start = np.zeros(len(feeding), bool)
    start[place] = True
    reached = case.walk.below(start, feeding)
    return _by_birth(case, [each for each in infinite if reached[each]])


def _by_birth(case: Case, places: list[int]) -> list[int]:
    return sorted(places, key=lambda each: int(case.walk.born[each]))


def _is_meant(case: Case, place: int, turned: int) -> bool:
    """Whether infinities were put in on purpose: by an op that chooses, or by adding a mask before a ``softmax``."""
    return _chooses(case, place) or (_stem(case, place) == "Add" and _stem(case, turned) in _OVER_ROWS)


def _chooses(case: Case, place: int) -> bool:
    return is_choosing(_stem(case, place))


def _stem(case: Case, place: int) -> str:
    return stem(case.facts.trace.op(int(case.walk.made_at[place]) >> 32).name)
