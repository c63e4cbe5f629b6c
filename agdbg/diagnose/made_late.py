"""A parameter that was made while the model that has it ran: an optimizer that was built before cannot have it.

Needs: MODULE, TENSOR, births and edges, PASS_STARTED.
"""

from agdbg.diagnose.case import Case
from agdbg.diagnose.layers import enclosing_at, root_of
from agdbg.diagnose.leaves import Leaf
from agdbg.events import Kind, ModuleEvent, a_of
from agdbg.record.deep_facts import ModuleFact


def made_inside(case: Case, leaf: Leaf) -> bool:
    """Whether a parameter was used before the model that has it told its name, in the same call of the model or a pass before."""
    first = min((int(case.walk.born[place]) for place in leaf.places), default=-1)
    if any(first < each.row < leaf.row for each in case.facts.passes):
        return True
    return (
        0 <= first < leaf.row and _is_in_several_graphs(case, leaf) and _is_told_by_a_running_model(case, leaf, first)
    )


def _is_in_several_graphs(case: Case, leaf: Leaf) -> bool:
    """Whether it was used before a pass and behind it: one that is made anew for each graph is a variable, as that of an attack.

    While the program keeps a graph, the next one has the same ``AccumulateGrad``.
    """
    walk = case.walk
    used = [int(row) for place in leaf.places for row in walk.born[walk.users(place)]]
    return any(min(used) < each.row < max(used) for each in case.facts.passes) if used else False


def _is_told_by_a_running_model(case: Case, leaf: Leaf, first: int) -> bool:
    """Whether the model that told of it, once more and with it, was running when it was used first."""
    node = case.facts.node(int(case.walk.ids[leaf.places[0]]))
    told = _told(case, leaf.row)
    if node is None or told is None:
        return False
    return root_of(case, told).id in {root_of(case, each).id for each in enclosing_at(case, first, node.thread)}


def _told(case: Case, before: int) -> ModuleFact | None:
    """The module that was told of last before a row."""
    facts = case.facts
    rows = facts.rows(Kind.MODULE)
    for row in rows[: int(rows.searchsorted(before))][::-1].tolist():
        head, number, *_ = facts.words(row)
        if a_of(head) not in (ModuleEvent.ENTERED, ModuleEvent.LEFT):
            return facts.module(number)
    return None
