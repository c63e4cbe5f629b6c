"""A gradient that became NaN at an op which computed with bad values in forward: the op that made those is the first cause.

``e = x.exp(); p = e / e.sum(); p[1].backward()``: where ``exp`` overflows the division is inf / inf, and no index behind it helps.

Needs: SUMMARY, births and edges.
"""

from dataclasses import dataclass

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.masked import exact
from agdbg.diagnose.naming import made_by
from agdbg.diagnose.singular import singular, stem
from agdbg.diagnose.turning import makers
from agdbg.diagnose.words import Lines, capital
from agdbg.record.facts import NodeFact

#: Ops that choose by a condition, which can be used before the first op as well; an index takes elements by their number.
_BY_CONDITION = frozenset(("Where", "MaskedFill", "MaskedScatter", "MaskedSelect", "IndexPut", "Index", "CopySlices"))


@dataclass(frozen=True)
class BadInput:
    """Where the bad values come from that a node computed with.

    Attributes:
        node: what made the first ones.
        became: what made NaN of its infinities; None for none.
        what: ``NaN`` or ``infinity``.
    """

    node: NodeFact
    became: NodeFact | None
    what: str


def bad_input(case: Case, node: NodeFact) -> BadInput | None:
    """What made the first bad value that came into a node in forward; None where none did, or where they were meant."""
    walk, bad = case.walk, case.measured.bad_output
    place, edges = walk.place(node.id), walk.edges
    if not (bad[place] and bad[edges.target[edges.source == place]].any()):
        return None
    start = np.zeros(len(bad), bool)
    start[place] = True
    found = makers(case, start, walk.below(start, bad))
    if not found or found[0].meant >= 0 or found[0].place == place or walk.leaves[found[0].place]:
        return None
    first = case.facts.node(int(walk.ids[found[0].place]))
    became = case.facts.node(int(walk.ids[found[0].became])) if found[0].became >= 0 else None
    what = "NaN" if case.measured.nan_output[found[0].place] else "infinity"
    return BadInput(first, became, what) if first is not None else None


def cause_of(found: BadInput, node: NodeFact, choice: NodeFact | None, call: str, lines: Lines) -> str:
    """The sentence, without its end: what it hit."""
    said = f"{capital(made_by(found.node))}{lines.at(found.node.site)} made the first {found.what} in forward"
    if found.became is not None:
        said += f", which became NaN at {made_by(found.became)}{lines.at(found.became.site)}"
    at = f"at {made_by(node)}{lines.at(node.site)}"
    at = "there" if found.became is not None and found.became.id == node.id else at
    if choice is None:
        return f"{said}, and in {call} the gradient became NaN {at}"
    return (
        f"{said}; {made_by(choice)}{lines.at(choice.site)} leaves the bad values out, but in {call} the gradient goes back through "
        f"them and became NaN {at}"
    )


def fix_of(case: Case, found: BadInput, choice: NodeFact | None) -> str:
    """What to do: the mask before the op where a condition chose, else what keeps its input in range."""
    masked = choice is not None and stem(choice.op.name) in _BY_CONDITION
    written = exact(case, found.node, choice) if masked and choice is not None else ""
    known = singular(found.node.op.name)
    if written:
        return written
    if known is not None and known.keep:
        how = known.keep_value or known.keep
        late = " A mask or an index behind it comes too late for the gradient." if choice is not None else ""
        return f"Look at what goes in there, with isnan(), min() and max(); {how}.{late}"
    return "Look at what goes in there, with isfinite(), min() and max(), and keep it in the range in which the op is finite."
