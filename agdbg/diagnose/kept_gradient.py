"""intermediate-kept, of a gradient that was refused: backward() of a custom Function computed it from what has no graph.

Needs: KEPT, FUNCTION, PASS_STARTED, RAN.
"""

from agdbg.diagnose.case import Case
from agdbg.diagnose.finding import Evidence, Finding
from agdbg.diagnose.functions import backward_calls, defined, is_marked_once
from agdbg.diagnose.regrad import Gradient, gradient_of
from agdbg.diagnose.source import call_text
from agdbg.diagnose.words import Lines
from agdbg.events import FunctionCall, NeedsGrad
from agdbg.record.rare import KeptFact

KIND = "intermediate-kept"
FIX = (
    "Save the arguments and compute it again from them in backward(); or return it as another output and save that; or "
    "mark backward() with @once_differentiable, so that a second derivative is refused. gradgradcheck() tests it."
)


def kept_for(case: Case, gradient: Gradient) -> KeptFact | None:
    """The first intermediate on a context whose backward() the call ran with ``create_graph``."""
    for kept in case.facts.kept if gradient.named and gradient.call.create_graph else ():
        if kept.role != "intermediate" or case.facts.words(kept.row)[5] == NeedsGrad.NO:
            continue
        calls = [each for each in backward_calls(case, kept.node) if each.call.id == gradient.call.id]
        if calls and not is_marked_once(case, calls[0]):
            return kept
    return None


def told_by_errors(case: Case) -> set[int]:
    """The contexts, by node, of which an error that was raised speaks already."""
    gradients = (gradient_of(case, error) for error in case.facts.errors if error.kind == "no-grad-fn")
    told = (kept_for(case, each) for each in gradients if each is not None)
    return {kept.node for kept in told if kept is not None}


def kept_finding(case: Case, gradient: Gradient, kept: KeptFact, call: str, refused: Evidence) -> Finding:
    """The Function is the cause; ``call`` is the call that was refused, in words."""
    node, lines = case.facts.node(kept.node), Lines(refused.site)
    name = f"`{node.op.name.removesuffix('Backward')}`" if node is not None and node.op.name else "a custom Function"
    made = f"`{call_text(gradient.call.site, gradient.call.call)}`{lines.at(gradient.call.site)}"
    where = f"`ctx.{kept.name}`"
    places = [
        (what.name.lower(), defined(case, kept.node, what)) for what in (FunctionCall.FORWARD, FunctionCall.BACKWARD)
    ]
    return Finding(
        kind=KIND,
        cause=(
            f"{call} starts from a tensor without a graph: `{gradient.name}`, a gradient that {made} computed, went through "
            f"backward() of {name}, which takes {where}, neither argument nor output of its forward(): no graph leads through "
            "that, though the gradient may well depend on what was differentiated."
        ),
        evidence=(
            Evidence("applied", kept.site, f"its forward() kept {where}", kept.node),
            *(Evidence(role, site, "defined here") for role, site in places if site.line),
            Evidence("gradient", gradient.call.site, gradient.note),
            refused,
        ),
        nodes=(kept.node,),
        certainty="likely",
        fix=FIX,
    )
