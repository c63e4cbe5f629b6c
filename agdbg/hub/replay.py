"""A read-only cursor over the recording: which node ran after which, forwards and backwards.

It stands before the run of a node, as a program that was stopped there would, or behind the last run. Runs are those that
stand in the trace, in the order in which they ended, so a pass inside a node comes before that node.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from agdbg.events import Outcome
from agdbg.hub.recorded_stops import runs_of_line
from agdbg.record.ending import ending_of
from agdbg.record.facts import ErrorFact, PassFact, RunFact
from agdbg.record.index import Rows
from agdbg.record.lookup import Site
from agdbg.record.query import Facts

if TYPE_CHECKING:
    from agdbg.hub.history import History
    from agdbg.hub.recorded_stops import RecordedStops


@dataclass(frozen=True)
class Position:
    """A place in the recording.

    Attributes:
        pass_id: the pass; 0 when nothing ran.
        position: the node's place in the pass, from 0; behind the last run how many the pass ran.
        planned: how many nodes the pass was to run.
        node: the node, 0 behind the last run.
        thread: the ordinal of the thread that ran it.
        row: the record of the run; behind the last run the number of records.
        outer: for each pass around this one, innermost first, ``pass``, ``position`` and ``node``.
        frames: ``file``, ``line`` and ``name`` of the callers of the passes, innermost first.
        error: what the run raised.
        at_end: behind the last run.
        is_growing: there may be more behind it soon: the program still writes the recording.
        breakpoints: those that were hit on the way to here.
        description: the same in words.
    """

    pass_id: int
    position: int
    planned: int
    node: int
    thread: int
    row: int
    description: str
    outer: list[dict[str, int]] = field(default_factory=list)
    frames: list[dict[str, Any]] = field(default_factory=list)
    error: ErrorFact | None = None
    at_end: bool = False
    is_growing: bool = False
    breakpoints: tuple[int, ...] = ()

    def as_stop(self) -> dict[str, Any]:
        """The same in the shape in which a program that stands tells where."""
        error = self.error
        return {
            "thread": self.thread,
            "reason": "exception" if error else "breakpoint" if self.breakpoints else "step",
            "description": self.description,
            "breakpoints": list(self.breakpoints),
            "where": "end" if self.at_end else "raise" if error else "before",
            "pass": self.pass_id,
            "position": self.position,
            "planned": self.planned,
            "node": self.node,
            "phase": "",
            "outer": self.outer,
            "frames": self.frames,
            "error": error
            and {"kind": error.kind, "text": error.text, "predicted": error.predicted, "node": error.node},
            "undo": 0,
        }


class Replay:
    """A cursor over what ``history`` holds, which may grow.

    It starts at the run that failed, or else at the first run of the last pass; while the program is there, and where it
    is to start ``at_end``, behind the last run, where the program is or was. Every move returns where the cursor then
    stands; at an end it stays.
    """

    def __init__(self, history: "History", at_end: bool = False) -> None:
        self._history = history
        self._known = _Runs(history.live)
        is_behind = at_end or ending_of(history.live.trace).state == "running"
        self._row = history.records if is_behind else self._known.first_sight()

    def _runs(self) -> "_Runs":
        if self._known.facts is not self._history.live:
            self._known = _Runs(self._history.live)
        return self._known

    @property
    def position(self) -> Position:
        """Where it stands."""
        return self._runs().position(self._runs().index(self._row))

    def seek(self, pass_id: int, order: int) -> Position:
        """Go to the run that had place ``order`` in a pass, or, when the pass had not so many, behind its last one."""
        runs = self._runs()
        return self._go(runs.index(runs.row_of(pass_id, order)))

    def goto(self, row: int) -> Position:
        """Go to the first run that is told in or behind a record."""
        return self._go(self._runs().index(row))

    def until(self, node: int, file: str, line: int) -> Position | None:
        """Go to the next run of a node, or to where the passes come to what a line built, or to the start of the next one that it
        called; stay, and return None, when there is none.
        """
        runs = self._runs()
        found = runs.of_node(node) if node else runs.of_line(self._history, file, line)
        at = runs.index(self._row)
        later = next((index for index in found if index > at), None)
        return None if later is None else self._go(later)

    def to_end(self) -> Position:
        """Go behind the last run."""
        return self._go(len(self._runs()))

    def next(self) -> Position:
        """Go on by one run, of whatever pass."""
        return self._go(self._runs().index(self._row) + 1)

    def back(self) -> Position:
        """Go back by one run."""
        return self._go(self._runs().index(self._row) - 1)

    def out(self) -> Position:
        """Go to the first run behind the last one of this pass: in the pass around it, if there is one."""
        runs = self._runs()
        return self._go(runs.last_of(runs.index(self._row)) + 1)

    def forward_to_end(self) -> Position:
        """Go to the last run of this pass, or from there to that of the next one, and at last behind all runs."""
        runs = self._runs()
        at = runs.index(self._row)
        last = runs.last_of(at)
        return self._go(last if last > at else runs.last_of(at + 1))

    def reverse(self) -> Position:
        """Go to the first run of this pass, or from there to that of the one before."""
        runs = self._runs()
        at = runs.index(self._row)
        first = runs.first_of(at)
        return self._go(first if first < at else runs.first_of(at - 1))

    def to_stop(self, stops: "RecordedStops", *, forward: bool) -> Position:
        """Go to the next run at which there is a breakpoint, or which failed, or back to the one before; without any, to the end
        of the pass or to its beginning.
        """
        runs = self._runs()
        at, hits = runs.index(self._row), runs.hits(self._history, stops)
        there = sorted((index for index in hits if (index > at if forward else index < at)), reverse=not forward)
        for index in there:
            numbers, note = stops.judge(hits[index], self._history, runs.row(index), runs.ended)
            if numbers or index in runs.failed:
                position = self._go(index)
                more = f"; {note}" if note else ""
                return replace(position, breakpoints=tuple(numbers), description=position.description + more)
        return self.forward_to_end() if forward else self.reverse()

    def _go(self, index: int) -> Position:
        runs = self._runs()
        self._row = runs.row(index)
        return runs.position(runs.index(self._row))


class _Runs:
    """The runs of a trace at one time, numbered from 0; the number behind the last stands for the end."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        rows = facts.run_rows
        self._rows: Rows = rows[facts.trace.records[rows, 6] != Outcome.SKIPPED]

    @cached_property
    def _passes(self) -> Any:
        """The pass of every run."""
        return self.facts.trace.records[self._rows, 2]

    def __len__(self) -> int:
        return len(self._rows)

    def index(self, row: int) -> int:
        """The first run that is told in or behind a record."""
        return int(np.searchsorted(self._rows, row))

    def row(self, index: int) -> int:
        """The record of a run; one before the first is the first."""
        index = max(index, 0)
        return int(self._rows[index]) if index < len(self) else len(self.facts.trace.records)

    def last_of(self, index: int) -> int:
        """The last run of the pass of a run."""
        return self._of_pass(index, -1)

    def first_of(self, index: int) -> int:
        """The first run of the pass of a run; of the end that of the last pass."""
        return self._of_pass(min(index, len(self) - 1), 0)

    def _of_pass(self, index: int, which: int) -> int:
        if not 0 <= index < len(self):
            return index
        return int(np.flatnonzero(self._passes == self._passes[index])[which])

    def hits(self, history: "History", stops: "RecordedStops") -> dict[int, list[int]]:
        """The breakpoints at runs, by their numbers; none at one that failed, unless there are."""
        nodes = self.facts.trace.records[self._rows, 1]
        return {**{at: [] for at in self.failed}, **stops.hits(history, nodes, self._passes)}

    @cached_property
    def failed(self) -> frozenset[int]:
        """The runs that failed."""
        outcomes = self.facts.trace.records[self._rows, 6]
        return frozenset(np.flatnonzero(outcomes == Outcome.ERROR).tolist())

    @cached_property
    def ended(self) -> list[int]:
        """The rows in which passes have ended that were not within others."""
        return sorted(each.end_row for each in self.facts.passes if not each.parent and each.outcome != "unfinished")

    def of_node(self, node: int) -> list[int]:
        """The runs of a node."""
        return np.flatnonzero(self.facts.trace.records[self._rows, 1] == node).tolist()

    def of_line(self, history: "History", file: str, line: int) -> list[int]:
        """Where the passes come to a line, as :func:`runs_of_line` has it."""
        return runs_of_line(history, file, line, self.facts.trace.records[self._rows, 1], self._passes)

    def row_of(self, pass_id: int, order: int) -> int:
        """The record of a run by its place in its pass; of one that was not reached, behind the last of the pass."""
        rows = self._rows[self._passes == pass_id]
        if not len(rows):
            return len(self.facts.trace.records)
        reached = rows[self.facts.trace.records[rows, 3] >= order]
        return int(reached[0] if len(reached) else rows[-1] + 1)

    def first_sight(self) -> int:
        """The record of the run that a reader wants to see first."""
        errors = [error for error in self.facts.errors if error.pass_id] + self.facts.predicted
        for error in reversed(errors):
            failed = [run for run in self.facts.runs_of(error.node) if run.pass_id == error.pass_id]
            if failed:
                return failed[-1].row
            if self.facts.pass_of(error.pass_id) is not None:
                return self.row_of(error.pass_id, 0)
        return self.row(self.first_of(len(self) - 1)) if len(self) else 0

    # ----- places -----

    def position(self, index: int) -> Position:
        """The place of a run, or of the end."""
        if index >= len(self):
            return self._end()
        run = self.facts.run(int(self._rows[index]))
        within = self.facts.pass_of(run.pass_id)
        return Position(
            pass_id=run.pass_id,
            position=run.order,
            planned=self._planned(within, run.pass_id),
            node=run.node,
            thread=self.facts.words(run.row)[0] >> 32,
            row=run.row,
            description=self._description(run, within),
            outer=self._outer(within, run.row),
            frames=self._frames(within),
            error=self._error(run) if run.outcome == Outcome.ERROR else None,
        )

    def _end(self) -> Position:
        row = len(self.facts.trace.records)
        if not len(self):
            return Position(0, 0, 0, 0, 1, row, "in the recording: no node ran", at_end=True)
        last = self.position(len(self) - 1)
        is_growing = ending_of(self.facts.trace).state == "running"
        so_far, more = (
            (" so far", "; it is still being recorded, and n goes on to what comes") if is_growing else ("", "")
        )
        return Position(
            pass_id=last.pass_id,
            position=last.position + 1,
            planned=last.planned,
            node=0,
            thread=last.thread,
            row=row,
            description=f"in the recording: its end{so_far}, after pass {last.pass_id}{more}",
            outer=last.outer,
            frames=last.frames,
            at_end=True,
            is_growing=is_growing,
        )

    def _planned(self, within: PassFact | None, pass_id: int) -> int:
        if within is not None and within.planned:
            return within.planned
        return int(np.count_nonzero(self._passes == pass_id))

    def _description(self, run: RunFact, within: PassFact | None) -> str:
        node = self.facts.node(run.node)
        op = node.op.name if node is not None else f"node {run.node}"
        call = within.call or "backward" if within is not None else "backward"
        failed = "; it fails here" if run.outcome == Outcome.ERROR else ""
        planned = self._planned(within, run.pass_id)
        return f"in the recording: {op}, node {run.order + 1:,} of {planned:,} of {call}, pass {run.pass_id}{failed}"

    def _around(self, within: PassFact | None) -> list[PassFact]:
        """The passes around a pass, innermost first."""
        found: list[PassFact] = []
        while within is not None and within.parent and within.parent not in [each.id for each in found]:
            within = self.facts.pass_of(within.parent)
            found += [within] if within is not None else []
        return found

    def _outer(self, within: PassFact | None, row: int) -> list[dict[str, int]]:
        """The node that each outer pass was at: the first that it told behind this run."""
        found = []
        for outer in self._around(within):
            later = self._rows[self.index(row + 1) :][self._passes[self.index(row + 1) :] == outer.id]
            run = self.facts.run(int(later[0])) if len(later) else None
            found.append({"pass": outer.id, "position": run.order if run else 0, "node": run.node if run else 0})
        return found

    def _frames(self, within: PassFact | None) -> list[dict[str, Any]]:
        passes = ([within] if within is not None else []) + self._around(within)
        return [{**_frame(each.site), "passes": place} for place, each in enumerate(passes, 1) if each.site.file]

    def _error(self, run: RunFact) -> ErrorFact | None:
        """The error that was told last before a run that failed."""
        told = [error for error in self.facts.errors if error.pass_id == run.pass_id and error.row <= run.row + 1]
        mine = [error for error in told if error.node == run.node]
        return next(reversed(mine or told), None)


def _frame(site: Site) -> dict[str, Any]:
    return {"file": site.file, "line": site.line, "name": site.func}
