"""Bad values that a later node leaves out: they reach neither what backward starts from nor a gradient."""

from collections.abc import Set

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.naming import made_by
from agdbg.diagnose.singular import is_choosing
from agdbg.diagnose.spoiled import elements_words
from agdbg.diagnose.words import Lines, capital, op_words
from agdbg.record.facts import NodeFact

#: Lines that are told of, and nodes that are looked at on the way from a bad value to where it ends.
LINES, LIMIT = 20, 10_000


def absorbed(case: Case, harmful: Set[int], before: int) -> list[Found]:
    """One remark for each line that made a bad value which did no harm before a row, without the nodes that did harm.

    What an op puts there on purpose, as ``masked_fill`` does with -inf, is none.
    """
    walk, measured = case.walk, case.measured
    words = np.where(measured.made_bad & ~walk.leaves & (walk.born < before), walk.made_at, 0)
    _, first = np.unique(words, return_index=True)
    found = []
    for place in first[words[first] != 0][:LINES].tolist():
        node = case.facts.node(int(walk.ids[place]))
        if node is not None and node.id not in harmful and not is_choosing(node.op.name):
            found.append(Found(node.row, _remark(case, place, node)))
    return found


def _remark(case: Case, place: int, node: NodeFact) -> Finding:
    lines, walk, measured = Lines(node.site), case.walk, case.measured
    everything = np.ones(len(walk.ids), bool)
    end = walk.nearest_above(place, everything, lambda at: not measured.bad_output[at], LIMIT)
    stop = case.facts.node(int(walk.ids[end])) if end >= 0 else None
    seen = next(each for each in case.facts.summaries(node.id) if (each.nans or each.infs) and each.what == "output")
    evidence = [Evidence("produced", node.site, f"{op_words(node)}: {elements_words(case, seen)}", node.id)]
    how = "nothing is computed from it"
    if stop is not None:
        how = f"it is absorbed at {made_by(stop)}{lines.at(stop.site)}"
        evidence.append(
            Evidence("absorbed", stop.site, f"{op_words(stop)}: absorbed here, what it gives is finite", stop.id)
        )
    what = "A NaN" if seen.nans else "An infinity"
    return Finding(
        kind="absorbed",
        cause=f"{capital(what)} of {made_by(node)}{lines.at(node.site)} does no harm: {how}.",
        evidence=tuple(evidence),
        nodes=(node.id, *([stop.id] if stop is not None else [])),
        certainty="certain",
        fix="Nothing; to be rid of it, keep the input of the op in the range where it is finite.",
    )
