"""Queries about passes: which ran, what they ran and what they freed."""

from collections.abc import Set
from functools import cached_property

import numpy as np
import numpy.typing as npt

from agdbg.events import CREATE_GRAPH, NOTHING, RETAIN_GRAPH, Kind, Outcome, flags_of, thread_of, unpack_edge
from agdbg.record.base import ById, Indexed
from agdbg.record.facts import PassFact, RunFact
from agdbg.record.index import RowIndex, Rows, without
from agdbg.record.undone import written_by_run


class PassFacts(Indexed):
    """The passes of a trace."""

    @cached_property
    def passes(self) -> list[PassFact]:
        """All passes in the order they started."""
        return [self._pass(row) for row in self.rows(Kind.PASS_STARTED).tolist()]

    def _pass(self, row: int) -> PassFact:
        """One object for one pass, however it is come by."""
        found = self._passes_by_row.get(row)
        if found is None:
            found = self._passes_by_row[row] = self._read_pass(row)
        return found

    @cached_property
    def _passes_by_row(self) -> dict[int, PassFact]:
        return {}

    def _read_pass(self, row: int) -> PassFact:
        words = self.words(row)
        site, op = self.site_and_op(words[2])
        end = self.index(Kind.PASS_FINISHED).last(words[1])
        failed = end >= 0 and self.words(end)[2] != Outcome.OK
        return PassFact(
            id=words[1],
            call=op.name,
            site=site,
            roots=self._roots(words),
            retain_graph=bool(flags_of(words[0]) & RETAIN_GRAPH),
            create_graph=bool(flags_of(words[0]) & CREATE_GRAPH),
            parent=words[4],
            outcome="unfinished" if end < 0 else "error" if failed else "ok",
            row=row,
            end_row=len(self.trace.records) if end < 0 else end,
            thread=thread_of(words[0]),
            planned=words[6],
        )

    def _roots(self, started: list[int]) -> tuple[tuple[int, int], ...]:
        found = {0: started[3]} if started[3] != NOTHING else {}
        for row in self.rows_about(Kind.ROOT, started[1]):
            words = self.words(row)
            found[words[2]] = words[3]
        return tuple(unpack_edge(found[index]) for index in sorted(found))

    # ----- runs -----

    @cached_property
    def void(self) -> Set[int]:
        """The rows of what was taken back later by stepping back, as UNDONE records tell.

        Runs, what they freed, and what they added to the gradients of leaves.
        """
        void: set[int] = set()
        for row in self.rows(Kind.UNDONE).tolist():
            _, node, pass_id, order, *_ = self.words(row)
            ran = [at for at in self.rows_about(Kind.RAN, node) if at < row and self.words(at)[2:4] == [pass_id, order]]
            freed = [at for at in self.rows_about(Kind.FREED, node) if at < row and self.words(at)[2] == pass_id]
            wrote = [at for run in ran for at in written_by_run(self.trace, self.rows, run)]
            void.update([*ran, *freed, *wrote])
        return void

    @cached_property
    def run_rows(self) -> Rows:
        """The rows of all runs that stand, ascending: skipped nodes are there, runs that were taken back are not."""
        rows = self.rows(Kind.RAN)
        return without(rows, self.void) if self.void else rows

    def run(self, row: int) -> RunFact:
        """The run that the RAN record in this row tells."""
        words = self.words(row)
        outcome = Outcome(min(words[6], Outcome.SKIPPED))
        return RunFact(words[1], words[2], words[3], words[4], words[5], outcome, row)

    def runs(self, pass_id: int) -> list[RunFact]:
        """Every node that a pass came to, skipped ones too, in the order of the pass."""
        found = [self.run(row) for row in self._rows_of_pass(pass_id)]
        return sorted(found, key=lambda run: run.order)

    def runs_of(self, node: int) -> list[RunFact]:
        """The runs of a node in all passes, in trace order, those that were skipped or taken back left out."""
        runs = (self.run(row) for row in self.rows_about(Kind.RAN, node) if row not in self.void)
        return [run for run in runs if run.outcome != Outcome.SKIPPED]

    @cached_property
    def _runs_by_pass(self) -> ById:
        rows = self.rows(Kind.RAN)
        return RowIndex(self.trace.records[rows, 2], rows)

    def _rows_of_pass(self, pass_id: int) -> list[int]:
        return [row for row in self._runs_by_pass.rows(pass_id) if row not in self.void]

    def ran(self, pass_id: int) -> npt.NDArray[np.uint64]:
        """The ids of the nodes that a pass ran, in order: one that failed too, skipped ones not."""
        records = self.trace.records[self._rows_of_pass(pass_id)]
        records = records[records[:, 6] != Outcome.SKIPPED]
        nodes: npt.NDArray[np.uint64] = records[np.argsort(records[:, 3], kind="stable"), 1]
        return nodes

    def failed(self, pass_id: int) -> npt.NDArray[np.uint64]:
        """The ids of the nodes whose run in a pass ended in an error."""
        records = self.trace.records[self._rows_of_pass(pass_id)]
        nodes: npt.NDArray[np.uint64] = records[records[:, 6] == Outcome.ERROR, 1]
        return nodes

    @property
    def failed_passes(self) -> list[PassFact]:
        """The passes that ended in an error, by id."""
        ended = self.trace.records[self.rows(Kind.PASS_FINISHED)]
        ids = np.unique(ended[ended[:, 2] != Outcome.OK, 1]).tolist()
        found = [self.pass_of(number) for number in ids]
        return [each for each in found if each is not None and each.outcome == "error"]

    def passes_of(self, node: int) -> list[int]:
        """The ids of the passes that ran a node, in trace order; runs that were skipped do not count."""
        return [run.pass_id for run in self.runs_of(node)]

    def pass_of(self, pass_id: int) -> PassFact | None:
        """The pass with this id, or None when its start was not recorded."""
        row = self.index(Kind.PASS_STARTED).last(pass_id)
        return self._pass(row) if row >= 0 else None

    def freed_by(self, node: int) -> int:
        """The id of the first pass that freed what a node had saved, 0 when none did.

        That is a pass without ``retain_graph`` in which the node ran well before somebody let it keep the graph at a stop, or
        the one a FREED record names.
        """
        return self.freed_at(node)[1]

    def _frees_until(self, within: PassFact) -> int:
        """The record up to which a pass frees what it runs."""
        if within.retain_graph:
            return 0
        kept = self.index(Kind.RETAINED).last(within.id)
        return kept if kept >= 0 else len(self.trace.records)

    def freed_at(self, node: int) -> tuple[int, int]:
        """Where a node's saved tensors were first freed, and by which pass; ``(-1, 0)`` when they were not."""
        told = [(row, self.words(row)[2]) for row in self.rows_about(Kind.FREED, node) if row not in self.void]
        for run in self.runs_of(node):
            within = self.pass_of(run.pass_id)
            if run.outcome == Outcome.OK and within is not None and run.row < self._frees_until(within):
                told.append((run.row, run.pass_id))
        return min(told, default=(-1, 0))
