"""Which hooks were registered on what, how often each fired or why it never did, and the order in which they fire."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.hook_list import HookList, Registered, function_name, on_name
from agdbg.diagnose.hook_reasons import reason
from agdbg.diagnose.words import count, op_words
from agdbg.record import Facts
from agdbg.record.hooked import HookFact, hook_at
from agdbg.record.lookup import Site
from agdbg.report.table import table, where

#: Hooks that fired in one pass, and lines of hooks, that are listed.
ORDER, LINES = 200, 500


@dataclass(frozen=True)
class HookLine:
    """The hooks that one line registered with one function: a loop registers many.

    Attributes:
        on: what they are on: a name, or the node's op; empty when neither is known.
        registered, fired, removed: how many hooks, how many calls, how many hooks that were taken away.
        edited: calls in which it wrote to its gradient, and of those the ones that changed another gradient too.
        never: why none of them fired; empty when one did.
    """

    kind: str
    on: str
    function: str
    site: Site
    defined: Site
    registered: int
    fired: int
    removed: int
    edited: int
    spoiled: int
    never: str


@dataclass(frozen=True)
class Fired:
    """One call of a hook, in the order of a pass."""

    kind: str
    on: str
    function: str
    registered: Site
    edited: bool


@dataclass(frozen=True)
class HookReport:
    """All hooks, and the order in which they fired in one pass: the last in which most fired.

    Attributes:
        hooks: by the line that registered them.
        pass_id, call: the pass whose order is told; 0 and no line when none fired.
        order: what fired in it, at most :data:`ORDER`.
        more: how many more fired in it.
    """

    hooks: tuple[HookLine, ...]
    pass_id: int
    call: Site
    order: tuple[Fired, ...]
    more: int


def hook_report(facts: Facts) -> HookReport:
    """The hooks of a trace."""
    case, told = Case(facts), HookList(facts)
    edits = _edits(told)
    lines = tuple(_line(case, group, edits) for group in told.groups[:LINES])
    pass_id, rows = _busiest(told)
    call = facts.pass_of(pass_id)
    order = tuple(_fired(facts, told, hook_at(facts, row)) for row in rows[:ORDER])
    return HookReport(lines, pass_id, call.site if call is not None else Site("", 0), order, max(0, len(rows) - ORDER))


def _line(case: Case, group: list[Registered], edits: dict[int, tuple[int, int]]) -> HookLine:
    fact, fired = group[0].fact, sum(each.fired for each in group)
    end = len(case.facts.trace.records)
    silent = not fired and fact.kind != "retain-grad"
    mine = [edits.get(each.fact.number, (0, 0)) for each in group]
    return HookLine(
        fact.kind,
        _on(case.facts, fact),
        function_name(fact.defined),
        fact.site,
        fact.defined,
        len(group),
        fired,
        sum(each.removed < end for each in group),
        sum(each for each, _ in mine),
        sum(each for _, each in mine),
        reason(case, group[0]).words if silent else "",
    )


def _on(facts: Facts, fact: HookFact) -> str:
    node = facts.node(fact.node)
    return on_name(facts, fact) or (op_words(node) if node is not None else "")


def _edits(told: HookList) -> dict[int, tuple[int, int]]:
    """By number how often a hook wrote to its gradient, and how often another one lay in the same memory."""
    records = told.facts.trace.records
    heads = records[told.fired_rows, 0] >> np.uint64(8) & np.uint64(4)
    rows = told.fired_rows[heads > 0]
    edited: Counter[int] = Counter(records[rows, 5].tolist())
    spoiled: Counter[int] = Counter(records[rows[records[rows, 7] > 0], 5].tolist())
    return {number: (times, spoiled[number]) for number, times in edited.items()}


def _busiest(told: HookList) -> tuple[int, list[int]]:
    """The last of the passes in which most hooks fired, and the rows of those."""
    passes = told.facts.trace.records[told.fired_rows, 2]
    ids, times = np.unique(passes[passes > 0], return_counts=True)
    if not len(ids):
        return 0, []
    chosen = ids[times == times.max()][-1]
    return int(chosen), told.fired_rows[passes == chosen].tolist()


def _fired(facts: Facts, told: HookList, fact: HookFact) -> Fired:
    hook = told.by_number.get(fact.number)
    known = hook.fact if hook is not None else fact
    return Fired(fact.kind, _on(facts, known), function_name(fact.defined), known.site, fact.edited)


def as_text(report: HookReport) -> str:
    """The report as text."""
    if not report.hooks and not report.order:
        return "no hook was registered or fired\n"
    rows = [
        (each.kind, each.on, each.function, where(each.site), each.registered, each.fired, each.removed, _remark(each))
        for each in report.hooks
    ]
    lines = [f"{count(len(report.hooks), 'line')} with hooks"]
    lines += table(("kind", "on", "function", "line", "hooks", "fired", "removed", ""), rows, "  ")
    if report.order:
        call = where(report.call)
        lines += ["", f"order in pass {report.pass_id}{f' ({call})' if call else ''}"]
        fired = [
            (at, each.kind, each.on, each.function, where(each.registered), "edits in place" if each.edited else "")
            for at, each in enumerate(report.order, 1)
        ]
        lines += table(("", "kind", "on", "function", "line", ""), fired, "  ")
        lines += [f"  and {report.more:,} more"] if report.more else []
    return "\n".join(lines) + "\n"


def _remark(line: HookLine) -> str:
    if line.spoiled:
        return "edits a gradient that another branch shares"
    if line.edited:
        return "edits its gradient in place"
    return f"never: {line.never}" if line.never else ""
