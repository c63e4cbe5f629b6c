"""What became of nodes in the passes so far, for many nodes at once."""

from typing import Literal, NamedTuple

import numpy as np

from agdbg.events import RETAIN_GRAPH, Kind, Outcome
from agdbg.record.growing import Growing, Mask, Numbers, Words

_FLAGS = np.uint64(8)

RowState = Literal["pending", "waiting", "ready", "running", "ran", "freed", "failed", "skipped"]
#: The state of several nodes is the first of these that one of them has.
LEAST_ADVANCED: tuple[RowState, ...] = ("failed", "running", "ready", "waiting", "pending", "skipped", "ran", "freed")


class Fate(NamedTuple):
    """A node's state, and the pass and place of its last run: 0 and None before one.

    *failed*: its last run raised; *skipped*: somebody let the pass go on without it, in place of its last run;
    *freed*: a pass without ``retain_graph`` ran it; *ran*: others did. *waiting*, *ready* and *running*: see
    :class:`~agdbg.hub.history.History`, which knows where somebody stands.
    """

    state: RowState
    pass_id: int
    order: int | None


PENDING = Fate("pending", 0, None)
_OTHERS: dict[int, RowState] = {Outcome.ERROR: "failed", Outcome.SKIPPED: "skipped"}


def fates_of(growing: Growing, void: frozenset[int], nodes: Words, before: int | None = None) -> list[Fate]:
    """The fate of each node, as the records before one tell; runs in the rows ``void`` were taken back and do not count."""
    before = len(growing.records) if before is None else before
    owner, rows = growing.index(Kind.RAN).all(nodes)
    runs = growing.records[rows]
    counts = ~np.isin(rows, sorted(void)) & (rows < before)
    owner, runs, rows = owner[counts], runs[counts], rows[counts]
    freed = _freed_by_record(growing, void, nodes, before)
    well = runs[:, 6] == Outcome.OK
    freed.update(owner[well][_frees(growing, runs[well, 2], rows[well])].tolist())
    fates = [PENDING] * len(nodes)
    for node, (_, _, pass_id, order, _, _, outcome, _) in zip(owner.tolist(), runs.tolist(), strict=True):
        done: RowState = "freed" if node in freed else "ran"
        fates[node] = Fate(_OTHERS.get(outcome, done), pass_id, order)
    return fates


def _frees(growing: Growing, passes: Words, runs: Numbers) -> Mask:
    """Which of these runs in these passes free what they ran: until somebody lets the pass keep the graph at a stop."""
    known, at = np.unique(passes, return_inverse=True)
    rows: Numbers = growing.index(Kind.PASS_STARTED).find(known)
    retains = growing.records[rows[rows >= 0], 0] >> _FLAGS & np.uint64(RETAIN_GRAPH) != 0
    frees = np.zeros(len(known), bool)
    frees[rows >= 0] = ~retains
    found: Mask = frees[at]
    if len(growing.rows(Kind.RETAINED)):
        kept: Numbers = growing.index(Kind.RETAINED).find(known)
        found &= (kept[at] < 0) | (runs < kept[at])
    return found


def _freed_by_record(growing: Growing, void: frozenset[int], nodes: Words, before: int) -> set[int]:
    owner, rows = growing.index(Kind.FREED).all(nodes)
    pairs = zip(owner.tolist(), rows.tolist(), strict=True)
    return {node for node, row in pairs if row not in void and row < before}
