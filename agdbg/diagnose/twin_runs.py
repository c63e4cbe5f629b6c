"""Which node of a recomputation stands for which node of the first run of a checkpointed function."""

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.events import ACCUMULATE_SEQUENCE, Kind
from agdbg.record.facts import BumpFact, SaveFact
from agdbg.record.index import Rows
from agdbg.record.rare import RecomputeFact

Twins = list[tuple[int, int]]
_HIGH, _LEAF = np.uint64(32), np.uint64(ACCUMULATE_SEQUENCE)
#: How many nodes the recomputation may have stopped early by.
SLACK = 4
#: Writes of one run that are looked at.
WRITES = 200


def twins(case: Case, told: RecomputeFact) -> Twins:
    """Pairs of nodes, (first run, recomputation), in the order in which they were built.

    Backward needed ``told.node`` first, so the two runs are laid beside each other from there backwards, as long as line
    and op agree.
    """
    again = _built(case, _begun(case, told), told.row, told.row)
    node = case.facts.node(told.node)
    if node is None or not len(again):
        return []
    first = _built(case, max(0, node.row - 64 * (len(again) + SLACK)), node.row + 1, told.row)
    return _aligned(case, first, again)


def rewritten(case: Case, told: RecomputeFact) -> list[tuple[int, BumpFact, SaveFact]]:
    """What both runs wrote to in place on the same line and the second one saved afterwards: node, write and save.

    For a re-entrant checkpoint, whose first run has no graph: it is the ``forward`` of the node that needed it.
    """
    born = case.facts.index(Kind.BORN).last(told.node)
    calls = [row for row in case.facts.rows_about(Kind.FUNCTION, told.node) if row < born]
    if not calls:
        return []
    before = {(each.storage, each.site) for each in _bumps(case, calls[0], born)}
    begun = _begun(case, told)
    again = {each.storage: each for each in _bumps(case, begun, told.row) if (each.storage, each.site) in before}
    nodes = case.facts.trace.records[_built(case, begun, told.row, told.row), 1].tolist() if again else []
    saves = [(number, save) for number in nodes if (node := case.facts.node(number)) for save in node.saves]
    return [(n, again[s.storage], s) for n, s in saves if s.storage in again and s.version >= again[s.storage].new]


def _bumps(case: Case, start: int, end: int) -> list[BumpFact]:
    """The writes between two rows, in the thread of the first."""
    records, rows = case.facts.trace.records, case.facts.rows(Kind.BUMP)
    rows = rows[rows.searchsorted(start) : rows.searchsorted(end)]
    mine = rows[records[rows, 0] >> _HIGH == records[start, 0] >> _HIGH][:WRITES]
    found = (case.facts.bumps(int(records[row, 1])) for row in mine)
    return [each for bumps in found for each in bumps if start < each.row < end]


def _begun(case: Case, told: RecomputeFact) -> int:
    """The row after which the recomputation began: what its thread told last of the pass itself."""
    records = case.facts.trace.records
    last = -1
    for kind in (Kind.RAN, Kind.PASS_STARTED, Kind.RECOMPUTED):
        rows = case.facts.rows(kind)
        before = rows[: rows.searchsorted(told.row)][-256:]
        mine = before[records[before, 0] >> _HIGH == records[told.row, 0] >> _HIGH]
        last = max(last, int(mine[-1]) if len(mine) else -1)
    return last


def _built(case: Case, start: int, end: int, like: int) -> Rows:
    """The rows of the births between two rows in the thread of a third, leaves left out."""
    records = case.facts.trace.records
    rows = case.facts.rows(Kind.BORN)
    rows = rows[rows.searchsorted(start) : rows.searchsorted(end)]
    mine = (records[rows, 0] >> _HIGH == records[like, 0] >> _HIGH) & (records[rows, 2] != _LEAF)
    found: Rows = rows[mine]
    return found


def _aligned(case: Case, first: Rows, again: Rows) -> Twins:
    records = case.facts.trace.records
    here, there = records[first, 3].tolist(), records[again, 3].tolist()
    ids, others = records[first, 1].tolist(), records[again, 1].tolist()
    for back in range(min(SLACK, len(here))):
        pairs: Twins = []
        at = len(here) - 1 - back
        for k in range(len(there) - 1, -1, -1):
            if at < 0 or here[at] != there[k]:
                break
            pairs.append((ids[at], others[k]))
            at -= 1
        if pairs:
            return pairs[::-1]
    return []
