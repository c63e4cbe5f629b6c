"""What is found about the error at which a thread stands, for those that nothing in the trace tells of: nan, inf, none-grad.

What the diagnoses and lints make of the recording comes first; where they have too little to go by, what the stop itself knows
is told: the node, the place of the bad value, what is known of the op.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from agdbg.diagnose import Evidence, Finding, diagnose, lint
from agdbg.diagnose.masked_later import masked_later
from agdbg.diagnose.singular import singular
from agdbg.diagnose.words import capital

if TYPE_CHECKING:
    from agdbg.record import Facts
    from agdbg.record.facts import NodeFact

_NOWHERE = "Look at the values that go in there, with isfinite() and abs().max()."
_OF_INFINITIES = "made NaN of infinities: 0 * inf, inf - inf and inf / inf are NaN"
_BY_VALUE = ("nan", "inf")


def findings_of(facts: "Facts", stops: Iterable[dict[str, Any]]) -> list[Finding]:
    """The findings for which a program has stopped; one that repeats itself, in each step of a loop say, is told once."""
    found: dict[object, Finding] = {}
    recorded = cache(lambda: of_values(facts))
    for stop in stops:
        finding = finding_at(facts, recorded, stop)
        if finding is not None:
            found.setdefault(sameness(finding), finding)
    return list(found.values())


def sameness(finding: Finding) -> object:
    """What is equal of findings that say the same of the same lines, of whichever nodes."""
    return finding.kind, finding.evidence or finding.cause, finding.fix


def of_values(facts: "Facts") -> list[Finding]:
    """What diagnoses and lints find of NaN and infinities in values that were recorded."""
    return [each for look in (diagnose, lint) for each in look(facts) if each.kind in _BY_VALUE]


def finding_at(facts: "Facts", recorded: Callable[[], list[Finding]], stop: dict[str, Any]) -> Finding | None:
    """The finding about the error of a stop, as the agent tells it; None for an error that the trace has, and for none.

    Args:
        facts: for questions about single nodes.
        recorded: gives what :func:`of_values` does.
        stop: with ``error`` and ``pass``.
    """
    error = stop.get("error") or {}
    kind = str(error.get("kind") or "")
    if kind not in (*_BY_VALUE, "none-grad"):
        return None
    node, text = int(error.get("node") or 0), str(error.get("text") or "").partition("; ")[0]
    if kind == "none-grad" and any(each.kind == kind and _first(each.text) == _first(text) for each in facts.errors):
        return None  # grad() refused it: no lint of a model
    infinite = error.get("infinite") or {}
    found = _of_the_trace(facts, recorded, kind, {node, int(infinite.get("node") or node)})
    if found is not None:
        return found
    call = facts.pass_of(int(stop.get("pass") or 0))
    within = (
        ()
        if call is None
        else (Evidence("needed", call.site, f"the {call.call or 'backward'}() in which this was seen"),)
    )
    if kind not in _BY_VALUE:
        return _of_the_model(text, within)
    if error.get("late"):
        return _passed_on(facts, kind, node, text, within)
    if infinite:
        return _of_the_infinity(facts, text, node, infinite, within)
    return _of_the_node(facts, kind, node, text, within)


def _first(text: str) -> str:
    """The first line of an error, without a full stop."""
    return (text.strip().splitlines() or [""])[0].rstrip(".")


def _of_the_trace(facts: "Facts", recorded: Callable[[], list[Finding]], kind: str, nodes: set[int]) -> Finding | None:
    """What was found in the recording, when it is about one of those nodes."""
    if kind == "none-grad" or not facts.bad_summaries:
        return None
    return next((each for each in recorded() if set(each.nodes[:1]) & nodes), None)


def _of_the_node(facts: "Facts", kind: str, node: int, text: str, within: tuple[Evidence, ...]) -> Finding:
    fact = facts.node(node)
    if fact is None:
        return Finding(kind, f"{text}.", within, (), "certain", _NOWHERE)
    from_finite = " of finite numbers" in text
    note = "the first that made it: what came in was finite" if from_finite else _OF_INFINITIES
    evidence = (Evidence("created", fact.site, note, fact.id), *within)
    return Finding(kind, f"{text}.", evidence, (node,), "certain", _fix(fact, "in the gradient" in text))


def _of_the_infinity(
    facts: "Facts", text: str, node: int, infinite: dict[str, Any], within: tuple[Evidence, ...]
) -> Finding:
    """A NaN that was made of an infinity: the node that made that is the first, and what is to be mended."""
    first, made, in_gradient = facts.node(int(infinite["node"])), facts.node(node), infinite["gradient"]
    if first is None or made is None:
        return Finding("nan", f"{text}.", within, (node,), "certain", _NOWHERE)
    where = " in the gradient that it sends" if in_gradient else ""
    evidence = (
        Evidence("produced", first.site, f"{first.op.name} made an infinity{where}: what came in was finite", first.id),
        Evidence("became NaN", made.site, f"{made.op.name} {_OF_INFINITIES}", made.id),
        *within,
    )
    return Finding("nan", f"{text}.", evidence, (first.id, made.id), "certain", _fix(first, bool(in_gradient)))


def _fix(fact: "NodeFact", is_gradient: bool) -> str:
    """What to do about a node that makes bad values, by what is known of its op."""
    known = singular(fact.op.name)
    why = "" if known is None else known.backward if is_gradient else known.forward
    if known is None or not why:
        return _NOWHERE
    kept = known.keep if is_gradient else known.keep_value or known.keep
    later = masked_later(fact)
    if later:
        return f"{capital(why)}. {later}"
    keep = f"; {kept}" if kept else ""
    late = " A where() behind the op is too late: the gradient still goes through it." if is_gradient else ""
    return f"{capital(why)}{keep}.{late}"


def _passed_on(facts: "Facts", kind: str, node: int, text: str, within: tuple[Evidence, ...]) -> Finding:
    """A node that has only saved it: who made it is built, and was not looked at."""
    fact = facts.node(node)
    saved = (
        ()
        if fact is None
        else (Evidence("saved", fact.site, "it was there already when the filter was switched on", fact.id),)
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
