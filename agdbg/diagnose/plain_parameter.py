"""not-optimized: a plain tensor as an attribute of a module, which parameters() does not give and nothing ever updates.

Needs: OPTIMIZER, MODULE, edges, RAN, BUMP, CUT, and of the leaf its SHAPE.
"""

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.layers import enclosing_modules
from agdbg.diagnose.leaves import Leaf, Leaves
from agdbg.diagnose.source import operand
from agdbg.diagnose.words import Lines
from agdbg.events import Kind
from agdbg.record.facts import NodeFact

#: Passes that must have left a gradient in it: one that is used once may be made for that.
PASSES = 2


def plain_parameters(case: Case, leaves: Leaves) -> list[Found]:
    """One finding for each attribute that several passes brought a gradient to, that no optimizer has and nobody writes."""
    if not leaves.are_stepped:
        return []
    free = [
        leaf for leaf in leaves.all if not leaf.name and not leaves.is_trained(leaf) and not _is_written(case, leaf)
    ]
    found: dict[tuple[str, int, str], Found] = {}
    for leaf in free:
        user, name = _use(case, leaf)
        if user is not None and name:
            told = _found(case, leaves, leaf, user, name)
            if told is not None:
                found.setdefault((user.site.file, user.site.line, name), told)
    return list(found.values())


def _use(case: Case, leaf: Leaf) -> tuple[NodeFact | None, str]:
    """The first use of a leaf as an attribute of the module that runs, and what it is called there."""
    edges = case.walk.edges
    for at in np.flatnonzero(np.isin(edges.target, leaf.places))[:1].tolist():
        user = case.facts.node(int(case.walk.ids[edges.source[at]]))
        name = operand(user.site, user, int(edges.index[at])) if user is not None else ""
        if user is not None and name.startswith("self.") and enclosing_modules(case, user):
            return user, name
    return None, ""


def _is_written(case: Case, leaf: Leaf) -> bool:
    """Whether somebody writes to it, or takes its data to do so."""
    facts = case.facts
    written = facts.trace.records[facts.rows(Kind.BUMP), 1]
    taken = any(each.storage == leaf.storage and each.op.name in ("data", "numpy") for each in facts.cuts)
    return bool((written == leaf.storage).any()) or taken


def _found(case: Case, leaves: Leaves, leaf: Leaf, user: NodeFact, name: str) -> Found | None:
    runs = case.passes_at(leaf.places)
    if len(runs) < PASSES:
        return None
    call = runs[0]
    module, holder = enclosing_modules(case, user)[0], next(iter(leaves.built.values()))
    attribute = name.removeprefix("self.")
    return Found(
        call.row,
        Finding(
            kind="not-optimized",
            cause=(
                f"`{name}`{Lines(call.site).at(user.site)} gets gradients and no optimizer has it: it is a plain tensor of "
                f"`{module.class_name}`, and parameters() gives nn.Parameter only."
            ),
            evidence=(
                Evidence("optimizer", holder.site, f"{holder.op.name} is built"),
                Evidence(
                    "used", user.site, f"used in `{module.class_name}`, which does not know it as a parameter", user.id
                ),
                Evidence("needed", call.site, "leaves gradients there that nothing steps"),
            ),
            nodes=(user.id,),
            certainty="likely",
            fix=(
                f"Make it a parameter, `{name} = nn.Parameter(...)`, or register_buffer({attribute!r}, ...) without requires_grad "
                "if it is not to be trained."
            ),
        ),
    )
