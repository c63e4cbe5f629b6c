"""A gradient without a graph, since the ``backward`` that made it is marked with ``@once_differentiable``."""

from collections.abc import Collection

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Evidence, Finding
from agdbg.diagnose.functions import BackwardCall, backward_calls, defined, is_marked_once
from agdbg.diagnose.only_once import FIX
from agdbg.diagnose.words import Lines
from agdbg.events import FunctionCall


def marked_once(case: Case, cuts: Collection[int], before: int) -> BackwardCall | None:
    """The call of a ``backward`` with the mark, made with ``create_graph=True``, in which one of these cuts was recorded."""
    for told in case.facts.function_calls:
        if told.what != "backward" or told.row > before:
            continue
        for each in backward_calls(case, told.node):
            within = any(each.row <= row <= each.end for row in cuts)
            if each.call.create_graph and within and is_marked_once(case, each):
                return each
    return None


def once_finding(case: Case, once: BackwardCall, call: str, refused: Evidence) -> Finding:
    """The finding; ``call`` is what was refused, in words."""
    node, site = case.facts.node(once.node), defined(case, once.node, FunctionCall.BACKWARD)
    name = node.op.name.removesuffix("Backward") if node is not None else "a custom Function"
    where = Lines(refused.site).at(site) if site.line else ""
    found = [Evidence("backward", site, f"backward() of `{name}`")] if site.line else []
    return Finding(
        kind="no-grad-fn",
        cause=(
            f"{call} starts from a gradient without a graph: backward() of `{name}`{where} is marked with @once_differentiable, so "
            "create_graph=True makes no graph of what it gives."
        ),
        evidence=(*found, Evidence("first call", once.call.site, "ran it with create_graph=True"), refused),
        nodes=(once.node,),
        certainty="likely",
        fix=FIX,
    )
