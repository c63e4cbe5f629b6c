"""checkpoint: a checkpointed function did something else when backward ran it again.

Needs: the error with its pass and its text, in which the engine tells the first op that differs and the lines; RECOMPUTED
for random numbers.
"""

from agdbg.diagnose.case import Case, Failure
from agdbg.diagnose.finding import Evidence, Finding, Found
from agdbg.diagnose.recomputed_reason import Difference, Ran, difference, likely_reason
from agdbg.diagnose.source import call_text
from agdbg.diagnose.words import Lines
from agdbg.events import REDRAWN, flags_of

KIND = "checkpoint"
_FIX = (
    "Make the function depend on its arguments alone: no counters, no global or module state that changes between "
    "the two runs, and the same autocast and grad modes. Random numbers are repeated only with preserve_rng_state=True, and "
    "only those of the engine's own generator."
)


def findings(case: Case) -> list[Found]:
    """One finding for each error of this kind that tells the op of one of the runs."""
    return case.found(KIND, _finding)


def _finding(case: Case, failure: Failure) -> Finding | None:
    error, call = failure.first, case.facts.pass_of(failure.first.pass_id)
    found = difference(error.text)
    if found is None or call is None:
        return None
    lines = Lines(call.site)
    why = likely_reason(found, _redrawn(case, error.row))
    return Finding(
        kind=KIND,
        cause=(
            f"A checkpointed function did not do the same when `{call_text(call.site, call.call)}`{lines.at(call.site)} ran "
            f"it again: {differs(found, lines)}{f'; {why}' if why else ''}."
        ),
        evidence=(*runs(found), Evidence("needed", call.site, "ran the function again")),
        nodes=(error.node,) if error.node else (),
        certainty="certain",
        fix=_FIX,
    )


def _redrawn(case: Case, row: int) -> bool:
    """Whether the recomputation that ended in an error drew other random numbers."""
    before = [each for each in case.facts.recomputations if each.row < row]
    return bool(before) and bool(flags_of(case.facts.words(before[-1].row)[0]) & REDRAWN)


def differs(found: Difference, lines: Lines) -> str:
    """The first op that differs, in words."""
    first, again = found
    if first is None and again is not None:
        return f"it did more, from {again.name}{lines.at(again.site)} on"
    if again is None and first is not None:
        return f"it did less, {first.name}{lines.at(first.site)} was left out"
    assert first is not None and again is not None  # a difference has one of them at least
    if first.name == again.name and first.op != again.op:
        return f"the first op that differs was `{first.op}`{lines.at(first.site)} and became `{again.op}`{lines.at(again.site)}"
    return f"the first op that differs was {first.name}{lines.at(first.site)} and became {again.name}{lines.at(again.site)}"


def runs(found: Difference) -> tuple[Evidence, ...]:
    """The lines of the two runs."""
    return (*_run("first run", found.first), *_run("second run", found.again))


def _run(role: str, ran: Ran | None) -> tuple[Evidence, ...]:
    return (Evidence(role, ran.site, f"{ran.op}, which made {ran.made}"),) if ran is not None else ()
