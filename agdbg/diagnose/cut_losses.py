"""Of several cuts of one leaf the one on the way to the loss that the leaf's optimizer is to step on.

An actor is to leave the temperature alone, ``alpha.detach() * log_prob``, and the temperature's own loss is not. Which loss an
optimizer steps on is known by the order: its first step follows the pass. And what is computed with gradients switched off is
meant more often than not: a target, an evaluation.

Needs: CUT, edges, PASS_STARTED, OPTIMIZER, BUMP; the source.
"""

from collections.abc import Set

from agdbg.diagnose.case import Case
from agdbg.diagnose.entering import Losses
from agdbg.diagnose.walk import Walk
from agdbg.events import Kind
from agdbg.record.facts import CutFact, PassFact

#: Nodes and passes that are looked at after a cut.
NODES, PASSES = 200, 20
_ANSWERS = {"yes": 0, "maybe": 1, "no": 4}
#: What is as often only kept or compared.
_NUMBERS = ("item", "numpy", "integer")


def weighed(case: Case, losses: Losses, cuts: list[CutFact]) -> list[CutFact]:
    """Of cuts on several lines, some by switched off gradients, those whose values enter a loss, the likeliest first.

    A single expression that ends the path is oftener a mistake than a block that somebody wrote to switch gradients off. The lines
    that update the leaf itself are none of them.
    """
    weights = {each.row: _weight(case, losses, each) for each in cuts}
    entering = [each for each in cuts if weights[each.row] < _ANSWERS["no"]]
    return sorted(entering, key=lambda each: weights[each.row]) or cuts[:1]


def _weight(case: Case, losses: Losses, cut: CutFact) -> int:
    here = (cut.site.file, cut.site.line)
    if any((each.site.file, each.site.line) == here for each in (case.facts.bumps(cut.storage) if cut.storage else ())):
        return _ANSWERS["no"]
    answer = losses.entering(cut).answer
    return _ANSWERS[answer] + (2 if cut.op.name == "no_grad" or (cut.op.name in _NUMBERS and answer == "maybe") else 0)


def for_holders(case: Case, losses: Losses, holders: Set[int], cuts: list[CutFact]) -> list[CutFact]:
    """The cuts of a leaf of some optimizers without those that do not keep it from a gradient.

    Those are of what was only evaluated with gradients switched off, and of what went into the loss of another optimizer alone.
    """
    if not holders:
        return cuts
    return [each for each in cuts if each.op.name != "no_grad" or not _is_aside(case, losses, each, holders)]


def _is_aside(case: Case, losses: Losses, cut: CutFact, holders: Set[int]) -> bool:
    if losses.entering(cut).answer != "yes":
        return losses.entering(cut).answer == "no"
    stepped = _stepped(case, _passes_from(case, losses, cut))
    return bool(stepped) and not stepped & holders


def preferred(
    case: Case, losses: Losses, holders: Set[int], cuts: list[CutFact]
) -> tuple[CutFact, tuple[CutFact, ...], bool]:
    """The cut that keeps the leaf from its own optimizer, else the first of them; the others; whether it is known to be the one."""
    if len(cuts) == 1:
        return cuts[0], (), True
    mine = [each for each in cuts if _leads_to(case, losses, each, holders)]
    first, known = (mine[0], True) if len(mine) == 1 else (cuts[0], False)
    return first, tuple(each for each in cuts if each is not first), known


def _leads_to(case: Case, losses: Losses, cut: CutFact, holders: Set[int]) -> bool:
    """Whether one of the optimizers stepped first after the next pass from what was computed of the cut's value."""
    return bool(_stepped(case, _passes_from(case, losses, cut)[:1]) & holders)


def _stepped(case: Case, passes: list[PassFact]) -> set[int]:
    """The optimizers that stepped first after one of these passes."""
    steps = [each for each in case.facts.optimized if each.when == "stepped"]
    after = (next((step for step in steps if step.row > each.row), None) for each in passes)
    return {each.number for each in after if each is not None}


def _passes_from(case: Case, losses: Losses, cut: CutFact) -> list[PassFact]:
    """Those of the next passes whose graph has a node that a line made of the cut's value."""
    walk, facts = case.walk, case.facts
    rows = facts.rows(Kind.BORN)
    made = rows[int(rows.searchsorted(cut.row)) :][:NODES]
    nodes = (facts.node(int(number)) for number in facts.trace.records[made, 1].tolist())
    lines = losses.entering(cut).lines
    places = [walk.place(each.id) for each in nodes if each is not None and (each.site.file, each.site.line) in lines]
    following = [each for each in facts.passes if each.row > cut.row][:PASSES] if places else []
    return [each for each in following if _is_below(walk, each, places)]


def _is_below(walk: Walk, call: PassFact, places: list[int]) -> bool:
    return bool(walk.below(walk.mask(root for root, _ in call.roots))[places].any())
