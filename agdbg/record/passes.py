"""Queries about passes: which ran, what they ran and what they freed."""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from agdbg.events import CREATE_GRAPH, NOTHING, RETAIN_GRAPH, Kind, Outcome, flags_of, thread_of, unpack_edge
from agdbg.record.base import Indexed
from agdbg.record.facts import PassFact, RunFact
from agdbg.record.index import RowIndex


class PassFacts(Indexed):
    """The passes of a trace."""

    @cached_property
    def passes(self) -> list[PassFact]:
        """All passes in the order they started."""
        return [self._pass(row) for row in self.rows(Kind.PASS_STARTED).tolist()]

    def _pass(self, row: int) -> PassFact:
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

    def runs(self, pass_id: int) -> list[RunFact]:
        """Every node that a pass came to, skipped ones too, in the order of the pass."""
        found = [self._run(row) for row in self._runs_by_pass.rows(pass_id)]
        return sorted(found, key=lambda run: run.order)

    def _run(self, row: int) -> RunFact:
        words = self.words(row)
        outcome = Outcome(min(words[6], Outcome.SKIPPED))
        return RunFact(words[1], words[2], words[3], words[4], words[5], outcome, row)

    @cached_property
    def _runs_by_pass(self) -> RowIndex:
        rows = self.rows(Kind.RAN)
        return RowIndex(self.trace.records[rows, 2], rows)

    def ran(self, pass_id: int) -> npt.NDArray[np.uint64]:
        """The ids of the nodes that a pass ran, in order: one that failed too, skipped ones not."""
        records = self.trace.records[self._runs_by_pass.rows(pass_id)]
        records = records[records[:, 6] != Outcome.SKIPPED]
        nodes: npt.NDArray[np.uint64] = records[np.argsort(records[:, 3], kind="stable"), 1]
        return nodes

    def passes_of(self, node: int) -> list[int]:
        """The ids of the passes that ran a node, in trace order; runs that were skipped do not count."""
        runs = [self._run(row) for row in self.rows_about(Kind.RAN, node)]
        return [run.pass_id for run in runs if run.outcome != Outcome.SKIPPED]

    @cached_property
    def _passes_by_id(self) -> dict[int, PassFact]:
        return {found.id: found for found in self.passes}

    def pass_of(self, pass_id: int) -> PassFact | None:
        """The pass with this id, or None when its start was not recorded."""
        return self._passes_by_id.get(pass_id)

    def freed_by(self, node: int) -> int:
        """The id of the first pass that freed what a node had saved, 0 when none did.

        That is a pass without ``retain_graph`` in which the node ran well, or the one a FREED record names.
        """
        told = [(row, self.words(row)[2]) for row in self.rows_about(Kind.FREED, node)]
        for run in map(self._run, self.rows_about(Kind.RAN, node)):
            within = self.pass_of(run.pass_id)
            if run.outcome == Outcome.OK and within is not None and not within.retain_graph:
                told.append((run.row, run.pass_id))
        return min(told)[1] if told else 0
