"""The runs of a pass in order, page by page: how long each took, and what arrived at it.

What is known of a pass is kept in arrays that grow with it, so a page costs a page, and a pass that runs costs what is new.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from agdbg.events import HookAction, Kind, Outcome, a_of
from agdbg.hub.empty import no_pass
from agdbg.norm import norm_of_all, told
from agdbg.protocol.looks import Run, TimelineBody
from agdbg.record.growing import Growing, Numbers
from agdbg.record.hooked import HookFact, hook_at
from agdbg.record.index import Rows
from agdbg.record.live import LiveFacts

#: Passes whose arrays are kept.
_KEPT = 4
_OUTCOMES: dict[Outcome, Literal["ok", "error", "skipped"]] = {
    Outcome.OK: "ok",
    Outcome.ERROR: "error",
    Outcome.SKIPPED: "skipped",
}


@dataclass
class _Pass:
    """What was read of a pass: the rows of its runs in order, and of which records that is all."""

    rows: Rows = field(default_factory=lambda: np.empty(0, np.int64))
    read: int = 0
    undone: int = 0
    longest: int = 0
    whole: int = 0


class Timeline:
    """Tells the runs of what ``growing`` has read."""

    def __init__(self, growing: Growing) -> None:
        self._growing = growing
        self._passes: dict[int, _Pass] = {}

    def runs_of(self, facts: LiveFacts, pass_id: int | None) -> tuple[int | None, Rows]:
        """A pass, without a number the last, and the rows of its runs in order.

        Raises:
            ValueError: there is no such pass.
        """
        ids = self._ids()
        chosen = pass_id if pass_id is not None else int(ids[-1]) if len(ids) else 0
        if not chosen or facts.pass_of(chosen) is None:
            if pass_id is not None:
                raise ValueError(f"there is no pass {pass_id}")
            return None, np.empty(0, np.int64)
        return chosen, self._known(facts, chosen).rows

    def page(self, facts: LiveFacts, start: int, count: int, pass_id: int | None, near: int = 0) -> TimelineBody:
        """A page of a pass.

        Args:
            facts: those of what ``growing`` has read.
            start, count: which of its runs.
            pass_id: the pass; None: the one that was started last.
            near: the node of the pass at which somebody stands; 0: nobody stands in it.

        Raises:
            ValueError: there is no such pass.
        """
        chosen, _ = self.runs_of(facts, pass_id)
        found = facts.pass_of(chosen) if chosen else None
        if found is None or chosen is None:
            return no_pass(start)
        known, ids = self._known(facts, chosen), self._ids()
        at = int(np.searchsorted(ids, chosen))
        rows = known.rows[start : start + count].tolist()
        return {
            "pass": chosen,
            "before": int(ids[at - 1]) if at else None,
            "after": int(ids[at + 1]) if at + 1 < len(ids) else None,
            "call": found.call,
            "file": found.site.file,
            "line": found.site.line,
            "outcome": found.outcome,
            "total": len(known.rows),
            "start": start,
            "runs": [self._run(facts, row, chosen) for row in rows],
            "longestNs": known.longest,
            "wholeNs": known.whole,
            "at": self._place_of(known, near),
        }

    def _ids(self) -> Numbers:
        started = self._growing.rows(Kind.PASS_STARTED)
        return np.unique(self._growing.records[started, 1].astype(np.int64))

    def _known(self, facts: LiveFacts, pass_id: int) -> _Pass:
        """What was read of a pass, with what came since."""
        known = self._passes.pop(pass_id, None)
        undone = len(self._growing.rows(Kind.UNDONE))
        if known is None or known.undone != undone:
            known = _Pass(undone=undone)
        self._passes[pass_id] = known
        while len(self._passes) > _KEPT:
            del self._passes[next(iter(self._passes))]
        rows = self._growing.rows(Kind.RAN)
        fresh = rows[known.read :]
        known.read = len(rows)
        fresh = fresh[self._growing.records[fresh, 2] == np.uint64(pass_id)]
        if undone and len(fresh):
            fresh = fresh[~np.isin(fresh, list(facts.void))]
        if len(fresh):
            self._add(known, fresh)
        return known

    def _add(self, known: _Pass, fresh: Rows) -> None:
        rows = np.concatenate([known.rows, fresh])
        order = self._growing.records[rows, 3]
        known.rows = rows if bool((order[1:] >= order[:-1]).all()) else rows[np.argsort(order, kind="stable")]
        durations = self._growing.records[fresh, 5].astype(np.int64)
        known.longest = max(known.longest, int(durations.max()))
        known.whole += int(durations.sum())

    def _place_of(self, known: _Pass, near: int) -> int | None:
        """Where in the pass somebody stands: at the run of that node, or behind all that ran."""
        if not near:
            return None
        mine = self._growing.index(Kind.RAN).rows(near)
        found = np.flatnonzero(np.isin(known.rows, mine))
        return int(found[-1]) if len(found) else len(known.rows)

    def _run(self, facts: LiveFacts, row: int, pass_id: int) -> Run:
        run = facts.run(row)
        node, hooks = facts.node(run.node), self._hooks(facts, run.node, row)
        arrived = [
            each.l2 for each in facts.summaries(run.node) if each.what == "gradient in" and each.pass_id == pass_id
        ]
        return {
            "node": run.node,
            "op": node.op.name if node is not None else "",
            "name": facts.name_of_leaf(run.node) or "",
            "file": node.site.file if node is not None else "",
            "line": node.site.line if node is not None else 0,
            "order": run.order,
            "startNs": run.start_ns,
            "durationNs": run.duration_ns,
            "outcome": _OUTCOMES[run.outcome],
            "hooks": len(hooks),
            "hooksNs": sum(hook.ns for hook in hooks) if all(hook.ns for hook in hooks) else None,
            "gradient": told(norm_of_all(arrived)) if arrived else None,
            "record": row,
        }

    def _hooks(self, facts: LiveFacts, node: int, row: int) -> list[HookFact]:
        """The calls of hooks of the program that the run has made: they are told between the run before and this one."""
        before = [each for each in self._growing.index(Kind.RAN).rows(node) if each < row]
        first = before[-1] if before else -1
        hooks = [each for each in self._growing.index(Kind.HOOK).rows(node) if first < each < row]
        fired = [hook_at(facts, each) for each in hooks if a_of(facts.words(each)[0]) == HookAction.FIRED]
        return [hook for hook in fired if hook.number]  # what a custom Function's backward wrote is told likewise
