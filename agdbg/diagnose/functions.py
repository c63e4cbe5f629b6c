"""What the trace tells of the calls of custom Functions: where their functions stand, what their backward did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agdbg.diagnose.case import Case
from agdbg.events import ONCE_DIFFERENTIABLE, FunctionCall, Kind, a_of, flags_of, unpack_pair
from agdbg.record.facts import PassFact
from agdbg.record.lookup import Site


@dataclass(frozen=True)
class BackwardCall:
    """One call of the ``backward`` of a node: the rows between which it ran, and its pass."""

    node: int
    row: int
    end: int
    call: PassFact


def defined(case: Case, node: int, what: FunctionCall) -> Site:
    """Where a function of a node's custom Function is defined; without a line when that is not known."""
    for row in case.facts.rows_about(Kind.FUNCTION, node):
        words = case.facts.words(row)
        site = case.facts.trace.site(unpack_pair(words[4])[0])
        if a_of(words[0]) == what and site.line:
            return site
    return Site("", 0)


def backward_calls(case: Case, node: int) -> Iterator[BackwardCall]:
    """The calls of a node's ``backward`` that came to their end, in trace order."""
    runs = case.facts.runs_of(node)
    for row in case.facts.rows_about(Kind.FUNCTION, node):
        words = case.facts.words(row)
        call = case.facts.pass_of(words[2])
        if a_of(words[0]) != FunctionCall.BACKWARD or call is None:
            continue
        end = next((run.row for run in runs if run.row > row and run.pass_id == call.id), 0)
        if end:
            yield BackwardCall(node, row, end, call)


def born_within(case: Case, call: BackwardCall) -> list[int]:
    """The nodes that a call of ``backward`` built: the graph of the gradient."""
    rows = case.facts.rows(Kind.BORN)
    mine = rows[rows.searchsorted(call.row) : rows.searchsorted(call.end)]
    return [int(each) for each in case.facts.trace.records[mine, 1].tolist()]


def is_marked_once(case: Case, call: BackwardCall) -> bool:
    """Whether a ``backward`` says itself that it cannot be differentiated."""
    return bool(flags_of(case.facts.words(call.row)[0]) & ONCE_DIFFERENTIABLE)


def differentiated_by(case: Case, built: list[int], after: int) -> PassFact | None:
    """The first pass after a row that ran one of these nodes."""
    runs = [run for each in built for run in case.facts.runs_of(each) if run.row > after]
    first = min(runs, key=lambda run: run.row, default=None)
    return case.facts.pass_of(first.pass_id) if first is not None else None
