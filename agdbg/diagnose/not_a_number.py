"""nan: anomaly mode found a NaN in what a node returned.

Needs: the error with its node; the node's line and op.
"""

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.masked import choice_above, exact
from agdbg.diagnose.naming import made_by
from agdbg.diagnose.source import call_text
from agdbg.diagnose.words import Lines, op_words
from agdbg.record.facts import NodeFact, PassFact

KIND = "nan"
#: By the beginning of the op: where its derivative is not a number or infinite, and what helps.
_WHERE = (
    (
        "Sqrt",
        "sqrt() of a negative number is NaN, and at 0 its derivative is infinite (0 * inf is NaN)",
        "clamp(min=eps)",
    ),
    (
        "Log",
        "log() of a negative number is NaN, and at 0 its derivative is infinite (0 * inf is NaN)",
        "clamp(min=eps)",
    ),
    ("Div", "0 / 0 is NaN, and so is the derivative of a division by 0 that meets a gradient of 0", "add eps below"),
    (
        "Pow",
        "a negative base with a fractional exponent gives NaN, and a power below 1 has an infinite derivative at 0",
        "",
    ),
    ("Acos", "outside of -1 to 1 it is NaN, and at the ends its derivative is infinite", "clamp() away from the ends"),
    ("Asin", "outside of -1 to 1 it is NaN, and at the ends its derivative is infinite", "clamp() away from the ends"),
)


def findings(case: Case) -> list[Found]:
    """One finding for each error of this kind whose node is known."""
    return case.found(KIND, _finding)


def _finding(case: Case, failure: Failure) -> Finding | None:
    error, node = failure.first, case.facts.node(failure.first.node)
    call = case.facts.pass_of(error.pass_id)
    if node is None or call is None:
        return None
    lines = Lines(call.site)
    return Finding(
        kind=KIND,
        cause=(
            f"The gradient that {made_by(node)}{lines.at(node.site)} gives to its input has NaN in it, found when "
            f"`{call_text(call.site, call.call)}`{lines.at(call.site)} ran {op_words(node)}."
        ),
        evidence=(
            Evidence("created", node.site, f"{op_words(node)}: the first node of the pass that returned NaN", node.id),
            Evidence("needed", call.site, "ran it in anomaly mode"),
        ),
        nodes=(node.id,),
        certainty="certain",
        fix=_rewritten(case, node, call) or _fix(node.op.name),
    )


def _rewritten(case: Case, node: NodeFact, call: PassFact) -> str:
    """The mask before the op instead of behind it, where one behind it is on the way and the source can be read; else empty."""
    walk = case.walk
    reach = walk.below(walk.mask(root for root, _ in call.roots))
    choice = choice_above(case, walk.place(node.id), reach)
    return exact(case, node, choice) if choice is not None else ""


def _fix(op: str) -> str:
    look = "Look at the values that go in there, with isnan() and min()"
    for beginning, why, how in _WHERE:
        if op.startswith(beginning):
            keep = f"; keep its input away from there before the op ({how})" if how else ""
            return f"{look}: {why}{keep}. A where() behind the op is too late: the gradient still goes through it."
    return f"{look}: a NaN or an infinity that comes in, or a gradient that is infinite already, gives one here."
