"""not-implemented: a custom Function was asked for a function that it has not: ``backward``, or ``jvp`` in forward mode.

Needs: the error; FUNCTION, which says whose function was called.
"""

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.functions import defined
from agdbg.diagnose.words import Lines
from agdbg.events import FunctionCall, Kind, thread_of
from agdbg.record.rare import CallFact

KIND = "not-implemented"


def findings(case: Case) -> list[Found]:
    """One finding for each error of this kind before which a custom Function was called."""
    return case.found(KIND, _finding)


def _finding(case: Case, failure: Failure) -> Finding | None:
    error = failure.first
    call = _called(case, error.row)
    if call is None:
        return None
    name, lines = call.op.name.removesuffix("Backward"), Lines(error.site)
    node = case.facts.node(call.node)
    forward = defined(case, call.node, FunctionCall.FORWARD)
    evidence = (
        [Evidence("applied", node.site, f"`{name}`", node.id)] if node is not None and node.site != error.site else []
    )
    evidence += [Evidence("forward", forward, "defined here")] if forward.line else []
    jvp = call.what == "jvp"
    return Finding(
        kind=KIND,
        cause=(
            f"The custom Function `{name}` has no {'jvp()' if jvp else 'backward()'}, and "
            f"{'forward mode' if jvp else 'a backward pass'}{lines.at(error.site)} needs it."
        ),
        evidence=(*evidence, Evidence("needed", error.site, "called it")),
        nodes=(call.node,),
        certainty="certain",
        fix=_fix(name, jvp),
    )


def _fix(name: str, jvp: bool) -> str:
    if jvp:
        return (
            f"Write `{name}.jvp(ctx, *tangents)`, which returns the tangents of the outputs (ctx.save_for_forward() keeps what it "
            "needs); or use reverse mode for this part."
        )
    return f"Write `{name}.backward(ctx, *grads)`, which returns a gradient for each argument of forward()."


def _called(case: Case, row: int) -> CallFact | None:
    """The last call of a function in the thread of the error."""
    rows = case.facts.rows(Kind.FUNCTION)
    thread = thread_of(case.facts.words(row)[0])
    before = rows[: rows.searchsorted(row)][::-1].tolist()
    mine = next((each for each in before if thread_of(case.facts.words(each)[0]) == thread), None)
    call = case.facts.call_at(mine) if mine is not None else None
    return call if call is not None and call.what in ("backward", "jvp") else None
