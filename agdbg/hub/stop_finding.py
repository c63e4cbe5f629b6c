"""What is found about the error at which a thread stands, for those that nothing in the trace tells of: nan, inf, none-grad.

What the diagnoses and lints make of the recording comes first; where they have too little to go by, what the stop itself knows
is told: the node, the place of the bad value, what is known of the op.
"""

from typing import TYPE_CHECKING, Any

from agdbg.diagnose import Evidence, Finding, diagnose, lint
from agdbg.diagnose.singular import singular

if TYPE_CHECKING:
    from agdbg.hub.history import History

_NOWHERE = "Look at the values that go in there, with isfinite() and abs().max()."
_BY_VALUE = ("nan", "inf")


def finding_at(history: "History", stop: dict[str, Any]) -> Finding | None:
    """The finding about the error of a stop, as the agent tells it; None for an error that the trace has, and for none."""
    error = stop.get("error") or {}
    kind = str(error.get("kind") or "")
    if kind not in (*_BY_VALUE, "none-grad"):
        return None
    node, text = int(error.get("node") or 0), str(error.get("text") or "").partition("; ")[0]
    found = _of_the_trace(history, kind, node)
    if found is not None:
        return found
    call = history.live.pass_of(int(stop.get("pass") or 0))
    within = () if call is None else (Evidence("needed", call.site, f"{call.call or 'backward'}() that is running"),)
    if kind not in _BY_VALUE:
        return _of_the_model(text, within)
    return (
        _passed_on(history, kind, node, text, within)
        if error.get("late")
        else _of_the_node(history, kind, node, text, within)
    )


def _of_the_trace(history: "History", kind: str, node: int) -> Finding | None:
    """What diagnoses and lints find, when it is about that node."""
    if kind == "none-grad" or not history.live.bad_summaries:
        return None
    facts = history.facts()
    told = [each for look in (diagnose, lint) for each in look(facts) if each.kind in _BY_VALUE]
    return next((each for each in told if each.nodes[:1] == (node,)), None)


def _of_the_node(history: "History", kind: str, node: int, text: str, within: tuple[Evidence, ...]) -> Finding:
    fact = history.live.node(node)
    if fact is None:
        return Finding(kind, f"{text}.", within, (), "certain", _NOWHERE)
    known = singular(fact.op.name)
    is_gradient = "in the gradient" in text
    why = "" if known is None else known.backward if is_gradient else known.forward
    kept = "" if known is None else (known.keep if is_gradient else known.keep_value) or known.keep
    keep = f"; {kept}" if kept else ""
    note = "the first that made it: what came in was finite"
    begin = why[:1] if "(" in why.partition(" ")[0] else why[:1].upper()
    fix = f"{begin}{why[1:]}{keep}." if why else _NOWHERE
    evidence = (Evidence("created", fact.site, note), *within)
    late = " A where() behind the op is too late: the gradient still goes through it." if why and is_gradient else ""
    return Finding(kind, f"{text}.", evidence, (node,), "certain", fix + late)


def _passed_on(history: "History", kind: str, node: int, text: str, within: tuple[Evidence, ...]) -> Finding:
    """A node that has only saved it: who made it is built, and was not looked at."""
    fact = history.live.node(node)
    saved = (
        () if fact is None else (Evidence("saved", fact.site, "it was there already when the filter was switched on"),)
    )
    fix = f"Restart with the filter on: the run then stops at the line that makes it. agdbg lint --only {kind} names that line too."
    return Finding(kind, f"{text}.", (*saved, *within), (node,), "certain", fix)


def _of_the_model(text: str, within: tuple[Evidence, ...]) -> Finding:
    return Finding(
        "none-grad",
        f"{text}.",
        within,
        (),
        "certain",
        "Use these parameters in forward on the way to the loss; if they are meant to stay as they are, requires_grad_(False) "
        "says so. What is between them and the loss and cuts the path (detach(), no_grad, .data) is told by agdbg lint.",
    )
