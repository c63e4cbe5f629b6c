"""The passes that went wrong by a NaN or an infinity, and the node that made the first one.

A node is the producer when what came in was finite and what went out is not. Once an update has carried a bad gradient into what is
trained, all that follows is a consequence, and no story of its own.
"""

from dataclasses import dataclass, replace

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.discarded import Discarded
from agdbg.diagnose.given import given_bad
from agdbg.diagnose.measured import PassValues
from agdbg.diagnose.spoiled import escaped, spoiled_at
from agdbg.diagnose.turning import Maker
from agdbg.diagnose.turning import makers as makers_in_forward
from agdbg.diagnose.walk import Mask
from agdbg.events import Summarized
from agdbg.record.deep_facts import SummaryFact
from agdbg.record.facts import NodeFact, PassFact

#: Passes that are looked at one by one, and other producers that are named.
PASSES, OTHERS = 50, 3


@dataclass(frozen=True)
class Story:
    """A pass that went wrong.

    Attributes:
        call: the pass.
        producer: the node that made the first bad value.
        seen: what was measured of it.
        forward: whether it made the value in forward.
        others: more nodes that made bad values on their own.
        leaves: the places of the leaves whose gradient is bad.
        reach: the nodes of the pass.
        became: the node that made NaN of the infinities that the producer made in forward; None for none.
        meant: the node that put in, on purpose, the infinities that the producer made NaN of; None for none.
        discarded: the program has put other gradients in the place of the bad ones before any step.
    """

    call: PassFact
    producer: NodeFact
    seen: SummaryFact
    forward: bool
    others: tuple[NodeFact, ...]
    leaves: tuple[int, ...]
    reach: Mask
    became: NodeFact | None = None
    meant: NodeFact | None = None
    discarded: bool = False


def stories(case: Case) -> list[Story]:
    """The passes that went wrong, in trace order, until an update has carried a bad gradient into what is trained.

    Those whose gradient no step took are among them, and end nothing.
    """
    walk, discarded = case.walk, Discarded(case)
    found: list[Story] = []
    for call in _bad_passes(case)[:PASSES]:
        story = _story(case, call)
        if story is None:
            continue
        if found and walk.leaves[walk.place(story.producer.id)]:  # what went wrong before has come into a parameter:
            return [replace(each, discarded=False) for each in found]  # so it was not discarded, whatever it seemed
        story = replace(story, discarded=discarded.holds(call, story.leaves))
        found.append(story)
        if not story.discarded and spoiled_at(case, call, story.leaves):
            break
    return found


def _bad_passes(case: Case) -> list[PassFact]:
    """The passes that start from a bad value or send on a bad gradient, without those that anomaly mode ended."""
    measured, walk = case.measured, case.walk
    if not measured.bad.any():
        return []
    bad = set(measured.bad_passes)
    told = {each.pass_id for each in case.facts.errors if each.kind == "nan"}
    starts = set(walk.ids[measured.bad_output].tolist())
    found = [each for each in case.facts.passes if each.id in bad or any(root in starts for root, _ in each.roots)]
    return [each for each in found if each.id not in told]


def _story(case: Case, call: PassFact) -> Story | None:
    walk, measured = case.walk, case.measured
    roots = walk.mask(root for root, _ in call.roots)
    values = measured.in_pass(call.id)
    if (roots & measured.bad_output).any():
        reach = walk.below(roots)
        feeding = walk.below(roots & measured.bad_output, measured.bad_output)
        leaves = escaped(case, call, values, values.bad)
        return _made_in_forward(case, call, makers_in_forward(case, roots, feeding), leaves, reach)
    if not values.bad.any():
        return None
    reach = walk.below(roots)
    leaves = escaped(case, call, values, values.bad)
    makers = np.flatnonzero(values.went_bad & ~values.came_bad)
    order = [place for place in _in_order(case, call, makers.tolist()) if _does_harm(case, place, values, leaves)]
    if not order:
        came = given_bad(case, values)
        return _given(case, call, [place for place in came if _does_harm(case, place, values, leaves)], leaves, reach)
    return _told(case, call, np.array(order, np.intp), False, leaves, reach)


def _made_in_forward(
    case: Case, call: PassFact, makers: list[Maker], leaves: tuple[int, ...], reach: Mask
) -> Story | None:
    told = _told(case, call, np.array([each.place for each in makers], np.intp), True, leaves, reach)
    if told is None:
        return None
    became, meant = (_node(case, each) for each in (makers[0].became, makers[0].meant))
    return replace(told, became=became, meant=meant)


def _node(case: Case, place: int) -> NodeFact | None:
    return case.facts.node(int(case.walk.ids[place])) if place >= 0 else None


def _given(case: Case, call: PassFact, places: list[int], leaves: tuple[int, ...], reach: Mask) -> Story | None:
    """The story of a gradient that was bad when it came to a node, and that no node had sent."""
    node = case.facts.node(int(case.walk.ids[places[0]])) if places else None
    told = case.facts.summaries(node.id) if node is not None else []
    seen = next(
        (each for each in told if (each.nans or each.infs) and each.what == "gradient in" and each.pass_id == call.id),
        None,
    )
    return Story(call, node, seen, False, (), leaves, reach) if node is not None and seen is not None else None


def _told(
    case: Case, call: PassFact, makers: "np.ndarray", forward: bool, leaves: tuple[int, ...], reach: Mask
) -> Story | None:
    nodes = [node for place in makers[: OTHERS + 1].tolist() if (node := case.facts.node(int(case.walk.ids[place])))]
    seen = seen_of(case, nodes[0], call, forward) if nodes else None
    if seen is None:
        return None
    return Story(call, nodes[0], seen, forward, tuple(nodes[1:]), leaves, reach)


def seen_of(case: Case, node: NodeFact, call: PassFact, forward: bool) -> SummaryFact | None:
    """The first bad value that was measured of a node, of its outputs in forward or of the gradients that it sent in a pass."""
    what, number = ("output", 0) if forward else ("gradient out", call.id)
    told = case.facts.summaries(node.id)
    return next(
        (each for each in told if (each.nans or each.infs) and each.what == what and each.pass_id == number), None
    )


def _in_order(case: Case, call: PassFact, places: list[int]) -> list[int]:
    """Places in the order in which a pass ran them."""
    measured = case.measured
    at = measured.of_pass(call.id)
    at = at[(measured.what[at] == Summarized.GRADIENT_OUT) & np.isin(measured.place[at], places)]
    return list(dict.fromkeys(measured.place[at].tolist()))


def _does_harm(case: Case, place: int, values: PassValues, leaves: tuple[int, ...]) -> bool:
    """Whether what a producer gave reaches a leaf, and no node between leaves it out."""
    walk = case.walk
    within = values.bad.copy()
    within[list(leaves)] = True
    start = np.zeros(len(within), bool)
    start[place] = True
    return bool(walk.below(start, within)[list(leaves)].any())
