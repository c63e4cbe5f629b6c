"""In which calls of modules the nodes of rows were born, for all rows at once."""

import numpy as np

from agdbg.graph.row_nodes import RowNodes
from agdbg.record.growing import Growing, Grown, Numbers
from agdbg.record.module_stacks import ModuleStacks

NONE = -1
#: Depths for which the calls are kept.
_KEPT = 6
_THREAD = np.uint64(32)


class RowCalls:
    """Calls are numbered in the order in which they were entered; what is new is taken when it is asked for."""

    def __init__(self, growing: Growing, nodes: RowNodes) -> None:
        self._growing, self._nodes = growing, nodes
        self._calls, self._outers, self._depths = Grown(), Grown(), Grown()
        self._innermost = Grown()
        self._at: dict[int, Numbers] = {}

    def at_depth(self, depth: int) -> Numbers:
        """Of each row the call in which its node was born, at this depth (1: in no other); :data:`NONE`: it was born higher up."""
        calls = self._update()
        if depth not in self._at:
            while len(self._at) >= _KEPT:
                del self._at[next(iter(self._at))]
            self._at[depth] = self._climbed(calls, depth)
        return self._at[depth]

    def _climbed(self, calls: Numbers, depth: int) -> Numbers:
        outers, depths = self._outers.now, self._depths.now
        if not len(depths):
            return calls.copy()
        while True:
            deeper = (calls >= 0) & (depths[calls] > depth)
            if not deeper.any():
                break
            calls = np.where(deeper, outers[calls], calls)
        return np.where((calls >= 0) & (depths[calls] == depth), calls, NONE)

    @property
    def deepest(self) -> int:
        """How many calls around one another there are at most."""
        self._update()
        return int(self._depths.now.max(initial=0))

    def module_of(self, call: int) -> int:
        """The number of the module that a call is of."""
        return self._growing.stacks().module_of(int(self._calls.now[call]))

    def _update(self) -> Numbers:
        """Of each row the innermost call."""
        stacks = self._growing.stacks()
        self._take_calls(stacks)
        births = self._nodes.births.now[len(self._innermost) :]
        if len(births):
            self._at.clear()
        self._innermost.add(self._found(stacks, births))
        return self._innermost.now

    def _take_calls(self, stacks: ModuleStacks) -> None:
        fresh = list(stacks.made(len(self._calls)))
        if not fresh:
            return
        calls, outers = np.array(fresh, np.int64).T
        self._calls.add(calls)
        numbers = np.where(outers >= 0, self._calls.now.searchsorted(outers), NONE)
        self._outers.add(numbers)
        depths = [*self._depths.now.tolist()]
        for outer in numbers.tolist():
            depths.append(depths[outer] + 1 if outer >= 0 else 1)
        self._depths.add(np.array(depths[len(self._depths) :], np.int64))

    def _found(self, stacks: ModuleStacks, births: Numbers) -> Numbers:
        found = np.full(len(births), NONE, np.int64)
        threads = self._growing.records[births, 0] >> _THREAD if len(births) else np.empty(0, np.uint64)
        for thread in np.unique(threads).tolist():
            rows, calls = (np.array(each, np.int64) for each in stacks.innermost(thread))
            mine = np.flatnonzero(threads == np.uint64(thread))
            at = rows.searchsorted(births[mine]) - 1
            inside = (at >= 0) & (calls[at] >= 0) if len(calls) else np.zeros(len(mine), bool)
            found[mine[inside]] = self._calls.now.searchsorted(calls[at[inside]])
        return found
