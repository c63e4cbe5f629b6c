"""once-differentiable: a custom Function's ``backward`` was differentiated that is marked as not differentiable.

Needs: the error with its node and pass; the line of the node.
"""

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.source import call_text
from agdbg.diagnose.words import Lines, op_words

KIND = "once-differentiable"
FIX = (
    "Write that backward() with operations of tensors and take the mark off; or, if no second derivative is wanted, "
    "leave out create_graph=True or detach() the gradient."
)


def findings(case: Case) -> list[Found]:
    """One finding for each error of this kind whose node and pass are known."""
    return case.found(KIND, _finding)


def _finding(case: Case, failure: Failure) -> Finding | None:
    error, node = failure.first, case.facts.node(failure.first.node)
    call = case.facts.pass_of(error.pass_id)
    if node is None or call is None:
        return None
    lines = Lines(call.site)
    ran = [case.facts.pass_of(each) for each in case.facts.passes_of(node.id)]
    built = next((each for each in ran if each is not None and each.id != call.id and each.create_graph), None)
    evidence = [Evidence("applied", node.site, f"built {op_words(node)}", node.id)]
    if built is not None:
        evidence.append(Evidence("first call", built.site, "ran its backward() with create_graph=True"))
    evidence.append(Evidence("second call", call.site, "differentiated what that gave"))
    return Finding(
        kind=KIND,
        cause=(
            f"`{call_text(call.site, call.call)}`{lines.at(call.site)} differentiates the backward() of {op_words(node)}"
            f"{lines.at(node.site)}, which is marked with @once_differentiable."
        ),
        evidence=tuple(evidence),
        nodes=(node.id,),
        certainty="certain",
        fix=FIX,
    )
