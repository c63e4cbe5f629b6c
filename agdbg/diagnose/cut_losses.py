"""Of several cuts of one leaf the one on the way to the loss that the leaf's optimizer is to step on.

An actor is to leave the temperature alone, ``alpha.detach() * log_prob``, and the temperature's own loss is not. Which loss an
optimizer steps on is known by the order: its first step follows the pass.

Needs: CUT, edges, PASS_STARTED, OPTIMIZER.
"""

from agdbg.diagnose.case import Case
from agdbg.diagnose.walk import Walk
from agdbg.events import Kind
from agdbg.record.deep_facts import OptimizerFact
from agdbg.record.facts import CutFact, PassFact

#: Nodes and passes that are looked at after a cut.
NODES, PASSES = 200, 20


def preferred(case: Case, holder: OptimizerFact | None, cuts: list[CutFact]) -> tuple[CutFact, bool]:
    """The cut that keeps the leaf from its own optimizer, and whether that is known; else the first of them."""
    if len(cuts) == 1:
        return cuts[0], True
    mine = [each for each in cuts if holder is not None and _leads_to(case, each, holder.number)]
    return (mine[0], True) if len(mine) == 1 else (cuts[0], False)


def _leads_to(case: Case, cut: CutFact, optimizer: int) -> bool:
    """Whether the optimizer stepped first after a pass from what the statement of the cut computed."""
    steps = [each for each in case.facts.optimized if each.when == "stepped"]
    passes = _passes_from(case, cut)
    after = (next((step for step in steps if step.row > each.row), None) for each in passes)
    return any(step is not None and step.number == optimizer for step in after)


def _passes_from(case: Case, cut: CutFact) -> list[PassFact]:
    """The first pass whose graph has a node that the line of a cut made after it; none when none of the next ones has."""
    walk, facts = case.walk, case.facts
    rows = facts.rows(Kind.BORN)
    made = rows[int(rows.searchsorted(cut.row)) :][:NODES]
    nodes = (facts.node(int(number)) for number in facts.trace.records[made, 1].tolist())
    here = (cut.site.file, cut.site.line)
    places = [walk.place(each.id) for each in nodes if each is not None and (each.site.file, each.site.line) == here]
    following = [each for each in facts.passes if each.row > cut.row][:PASSES] if places else []
    return [each for each in following if _is_below(walk, each, places)][:1]


def _is_below(walk: Walk, call: PassFact, places: list[int]) -> bool:
    return bool(walk.below(walk.mask(root for root, _ in call.roots))[places].any())
