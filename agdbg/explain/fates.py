"""What became of each error: caught, or the end of the program or of a thread, or never raised."""

from dataclasses import dataclass
from typing import Any, Literal

from agdbg.diagnose import Finding
from agdbg.diagnose.case import Case
from agdbg.diagnose.kinds import error_kind
from agdbg.record import Facts, Trace
from agdbg.record.ending import Ending
from agdbg.record.facts import ErrorFact

#: ``caught``: the program went on; ``program``, ``thread``: what the error ended; ``predicted``: it was foreseen at a
#: stop, and the program came no further; ``silent``: nothing was raised; ``remark``: it is
#: no fault at all; None: the trace does not say.
Fate = Literal["caught", "program", "thread", "predicted", "silent", "remark"] | None


def words_of_predicted(ending: Ending) -> str:
    """What there is to say of an error that was foreseen: while the program may go on, what comes; else, that it did not come."""
    if ending.state in ("running", "unknown"):
        return "predicted: not raised yet; it is raised when the program goes on from there"
    return "predicted at a stop: it was not raised before the recording ended"


@dataclass(frozen=True)
class Undiagnosed:
    """An error for which no diagnosis speaks, and how often it came."""

    error: ErrorFact
    count: int
    fate: Fate


def uncaught_of(trace: Trace) -> dict[str, Any] | None:
    """The error that ended the program, as the launcher wrote it down."""
    uncaught = _table(trace.meta.get("exit")).get("uncaught")
    return uncaught if isinstance(uncaught, dict) else None


def fates(findings: list[Finding], facts: Facts) -> list[Fate]:
    """For each finding what became of its error."""
    kinds = {error.kind for error in facts.errors}
    went_on = _went_on(facts.trace)
    found: list[Fate] = ["caught" if error_kind(each.kind) in kinds and went_on else None for each in findings]
    for fate, error in _fatal(facts):
        about = max(range(len(findings)), key=lambda at: _likeness(findings[at], error, facts), default=None)
        if about is not None and _likeness(findings[about], error, facts):
            found[about] = fate
    return found


def undiagnosed(findings: list[Finding], facts: Facts) -> list[Undiagnosed]:
    """The errors of kinds of which no finding speaks; repeats are told once."""
    silent = {error.kind for error in facts.errors} - {error_kind(finding.kind) for finding in findings}
    otherwise: Fate = "caught" if _went_on(facts.trace) else None
    ended: dict[tuple[object, ...], Fate] = {_sameness(error): fate for fate, error in _fatal(facts)}
    counts: dict[tuple[object, ...], int] = {}
    first: dict[tuple[object, ...], ErrorFact] = {}
    for failure in Case(facts).failures(*silent):
        key = _sameness(failure.last)
        first.setdefault(key, failure.last)
        counts[key] = counts.get(key, 0) + failure.count
    return [Undiagnosed(error, counts[key], ended.get(key, otherwise)) for key, error in first.items()]


def _went_on(trace: Trace) -> bool:
    """True when the trace shows that the program went on behind an error which did not end it.

    A recording of a block that was left by an error has no way to know.
    """
    return trace.closed and "left_by" not in _table(trace.meta.get("exit"))


def is_recorded(uncaught: dict[str, Any], facts: Facts) -> bool:
    """True when the error that ended the program, or one behind it, is an error of the trace."""
    return bool(_matching(uncaught, facts))


def _fatal(facts: Facts) -> list[tuple[Fate, ErrorFact]]:
    """The errors that ended a thread, and at last the one that ended the program."""
    threads = _table(facts.trace.meta.get("exit")).get("threads")
    ends: list[tuple[Fate, Any]] = [("thread", each) for each in threads] if isinstance(threads, list) else []
    ends.append(("program", uncaught_of(facts.trace)))
    return [(fate, matching[-1]) for fate, end in ends if (matching := _matching(end, facts))]


def _matching(end: Any, facts: Facts) -> list[ErrorFact]:
    chain = _table(end).get("chain")
    told = {_first_line(str(error)) for error in chain} if isinstance(chain, list) else set()
    return [error for error in facts.errors if _first_line(error.text) in told] if told else []


def _likeness(finding: Finding, error: ErrorFact, facts: Facts) -> int:
    """How well a finding fits an error, 0 for not at all: a finding stands for all repeats of its error."""
    if error_kind(finding.kind) != error.kind:
        return 0
    node = facts.node(error.node)
    sites = [evidence.site for evidence in finding.evidence]
    return 1 + 4 * (error.node in finding.nodes) + 2 * (error.site in sites) + (node is not None and node.site in sites)


def _sameness(error: ErrorFact) -> tuple[object, ...]:
    return error.kind, error.site, error.text


def _first_line(text: str) -> str:
    return text.partition("\n")[0].strip()


def _table(value: Any) -> dict[str, Any]:
    """``meta.json`` may hold anything; only an object is looked into."""
    return value if isinstance(value, dict) else {}
