"""Which node of a recomputation stands for which node of the first run of a checkpointed function."""

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.events import ACCUMULATE_SEQUENCE, Kind
from agdbg.record.facts import BumpFact, SaveFact
from agdbg.record.index import Rows
from agdbg.record.lookup import Site
from agdbg.record.rare import RecomputeFact

Twins = list[tuple[int, int]]
_HIGH, _LEAF = np.uint64(32), np.uint64(ACCUMULATE_SEQUENCE)
#: How many nodes before the one that backward needed the recomputation may have stopped.
SLACK = 4
#: Writes of one run that are looked at.
WRITES = 200
#: The node of a re-entrant checkpoint, whose first run builds none of its own.
REENTRANT = "CheckpointFunctionBackward"


def twins(case: Case, told: RecomputeFact) -> list[Twins]:
    """Pairs of nodes, (first run, recomputation), in the order in which they were built; the likeliest pairs first.

    The first run built ``told.node`` and nothing else since the pass before it, and the recomputation builds the same from its
    beginning on. Where a function repeats itself, as blocks of one kind do, that fits in several ways: what is to be said of
    the two runs has to hold for each of them.
    """
    node = case.facts.node(told.node)
    if node is None or node.op.name == REENTRANT:
        return []
    first = _built(case, _begun(case, node.row), node.row)
    # that a node ran may be told in the middle of what was built after it: so it is no beginning where all of the pass fits
    for marks in (_MARKS[1:], _MARKS):
        again = _built(case, _begun(case, told.row, marks), told.row)
        found = _fitting(case, first, again, told.site) if len(again) else []
        if found:
            return found
    return []


def rewritten(case: Case, told: RecomputeFact) -> list[tuple[int, BumpFact, SaveFact]]:
    """What both runs wrote to in place on the same line and the second one saved afterwards: node, write and save.

    For a re-entrant checkpoint, whose first run has no graph: it is the ``forward`` of the node that needed it.
    """
    born = case.facts.index(Kind.BORN).last(told.node)
    calls = [row for row in case.facts.rows_about(Kind.FUNCTION, told.node) if row < born]
    if not calls:
        return []
    before = {(each.storage, each.site) for each in _bumps(case, calls[0], born)}
    begun = _begun(case, told.row)
    again = {each.storage: each for each in _bumps(case, begun, told.row) if (each.storage, each.site) in before}
    nodes = case.facts.trace.records[_built(case, begun, told.row), 1].tolist() if again else []
    saves = [(number, save) for number in nodes if (node := case.facts.node(number)) for save in node.saves]
    return [(n, again[s.storage], s) for n, s in saves if s.storage in again and s.version >= again[s.storage].new]


def built_again(case: Case, told: RecomputeFact) -> list[int]:
    """The nodes that a recomputation built, leaves left out."""
    rows = _built(case, _begun(case, told.row), told.row)
    return [int(number) for number in case.facts.trace.records[rows, 1]]


def begun(case: Case, told: RecomputeFact) -> int:
    """A row before which nothing of the recomputation was written: where its pass began, or the recomputation before it ended."""
    return _begun(case, told.row, _MARKS[1:])


def _bumps(case: Case, start: int, end: int) -> list[BumpFact]:
    """The writes between two rows, in the thread of the first."""
    records, rows = case.facts.trace.records, case.facts.rows(Kind.BUMP)
    rows = rows[rows.searchsorted(start) : rows.searchsorted(end)]
    mine = rows[records[rows, 0] >> _HIGH == records[start, 0] >> _HIGH][:WRITES]
    found = (case.facts.bumps(int(records[row, 1])) for row in mine)
    return [each for bumps in found for each in bumps if start < each.row < end]


_MARKS = (Kind.RAN, Kind.PASS_STARTED, Kind.RECOMPUTED)


def _begun(case: Case, row: int, marks: tuple[Kind, ...] = _MARKS) -> int:
    """The row after which a run began that was going on at a row: what its thread told last of a pass."""
    records = case.facts.trace.records
    last = -1
    for kind in marks:
        rows = case.facts.rows(kind)
        before = rows[: rows.searchsorted(row)][-256:]
        mine = before[records[before, 0] >> _HIGH == records[row, 0] >> _HIGH]
        last = max(last, int(mine[-1]) if len(mine) else -1)
    return last


def _built(case: Case, start: int, row: int) -> Rows:
    """The rows of the births from one row to another, in the thread of that, leaves left out."""
    records = case.facts.trace.records
    rows = case.facts.rows(Kind.BORN)
    rows = rows[rows.searchsorted(start) : rows.searchsorted(row, "right")]
    mine = (records[rows, 0] >> _HIGH == records[row, 0] >> _HIGH) & (records[rows, 2] != _LEAF)
    found: Rows = rows[mine]
    return found


def _fitting(case: Case, first: Rows, again: Rows, call: Site) -> list[Twins]:
    """All ways to lay the recomputation beside the first run so that it holds the last node of that, or stops just before."""
    records = case.facts.trace.records
    first = first[-len(again) - SLACK :]
    here, there = records[first, 3], records[again, 3]
    ids, others = records[first, 1].tolist(), records[again, 1].tolist()
    meant = (
        len(here) - 1 - len(there)
    )  # it stops at what the last node saves, which is as a rule what backward needs first
    found = []
    for start in sorted(range(len(here)), key=lambda start: abs(start - meant)):
        both = zip(here[start:].tolist(), there.tolist(), strict=False)
        if all(one == other or _same(case, one, other, call) for one, other in both):
            found.append(list(zip(ids[start:], others, strict=False)))
    return found


def _same(case: Case, first: int, again: int, call: Site) -> bool:
    """Whether two nodes are of one op, the second with the line of the pass: that of layers that run again."""
    (_, op), (site, other) = case.facts.site_and_op(first), case.facts.site_and_op(again)
    return op == other and site == call
