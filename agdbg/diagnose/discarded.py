"""Bad gradients that the program itself has discarded: they were replaced before any step took them.

Whether there is a gradient when a pass comes to a leaf shows in what the pass does there: it adds to one in place,
which is a write, and keeps its own without a write where there is none.
"""

from functools import cached_property

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.events import Kind
from agdbg.record.facts import PassFact
from agdbg.record.index import Rows

#: Writes after which nothing of what was there is left, or nothing that is not finite.
_CLEANS = frozenset({"zero_", "fill_", "nan_to_num_"})
_THREAD = np.uint64(32)


class Discarded:
    """What became of the gradients of leaves, in one trace."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._records = case.facts.trace.records
        self._writes: Rows = case.facts.rows(Kind.BUMP)
        self._written = self._records[self._writes, 1]
        self._lines: set[object] = set()

    def holds(self, call: PassFact, leaves: tuple[int, ...]) -> bool:
        """Whether no step took the bad gradients that a pass left in leaves; passes are asked for in their order.

        Each leaf is one that steps write, and it got another gradient before it was next written. Where no later pass
        comes to the leaf, nobody knows, unless the program has discarded those of the same call before: then it is
        enough that nothing writes it.

        Args:
            call: the pass.
            leaves: their places in the walk.
        """
        storages = set(self._storages[list(leaves)].tolist())
        if call.call != "backward" or not storages or 0 in storages:
            return False
        if all(self._is_replaced(call, each) for each in storages):
            self._lines.add(call.site)
            return True
        mine = np.isin(self._written, np.array(sorted(storages), np.uint64))
        return call.site in self._lines and not (mine & (self._writes > call.row)).any()

    def _is_replaced(self, call: PassFact, leaf: int) -> bool:
        written = self._writes[self._written == leaf]
        began, ended = self._next_run(call, leaf)
        if not len(written) or not ended:
            return False
        added_to = set(self._written[(self._writes > began) & (self._writes < ended)].tolist()) - {leaf}
        until = min((self._cleaned(each, call.end_row, began) for each in added_to), default=began)
        return until > 0 and not ((written > call.row) & (written < until)).any()

    def _next_run(self, call: PassFact, leaf: int) -> tuple[int, int]:
        """Between which rows the next pass that comes to a leaf runs its node; zeros where none does, or one that makes a graph,
        which adds without a write.
        """
        runs, storages = self._leaf_runs
        mine = runs[(storages == leaf) & (runs > call.end_row)]
        ended = int(mine[0]) if len(mine) else 0
        later = self._case.facts.pass_of(int(self._records[ended, 2])) if ended else None
        if later is None or later.create_graph:
            return 0, 0
        before = self._runs[(self._runs > later.row) & (self._runs < ended)]
        before = before[self._records[before, 0] >> _THREAD == self._records[ended, 0] >> _THREAD]
        return int(before[-1]) if len(before) else later.row, ended

    def _cleaned(self, gradient: int, start: int, end: int) -> int:
        """The row of the first write between two rows that left nothing bad in a gradient; 0 for none."""
        rows = self._writes[(self._written == gradient) & (self._writes > start) & (self._writes < end)]
        for row in rows.tolist():
            name = self._case.facts.site_and_op(int(self._records[row, 4]))[1].name
            if name.removeprefix("aten::").removeprefix("_foreach_") in _CLEANS:
                return int(row)
        return 0

    # ----- tables -----

    @cached_property
    def _storages(self) -> Rows:
        """By place: the storage of a leaf, 0 for other nodes and where it was not recorded."""
        walk = self._case.walk
        found = np.zeros(len(walk.ids), np.int64)
        for place in np.flatnonzero(walk.leaves).tolist():
            found[place] = self._case.facts.storage_of_leaf(int(walk.ids[place]))
        return found

    @cached_property
    def _runs(self) -> Rows:
        return self._case.facts.rows(Kind.RAN)

    @cached_property
    def _leaf_runs(self) -> tuple[Rows, Rows]:
        """The rows in which nodes of leaves ran, and the storages of these."""
        ids = self._case.walk.ids
        runs = self._runs[np.isin(self._records[self._runs, 1], ids[self._storages > 0])]
        return runs, self._storages[ids.searchsorted(self._records[runs, 1])]
