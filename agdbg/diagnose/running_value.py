"""A running value, as ``mean = 0.9 * mean + 0.1 * h.mean(0)``, that no pass ever goes through and that keeps every graph."""

import ast
from typing import NamedTuple

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.source import quoted
from agdbg.diagnose.syntax import name_of, read, unparse
from agdbg.record.lookup import Site

#: How many iterations must have gone on from the one before.
LINKS = 4


class RunningValue(NamedTuple):
    """The statement that carries it on, what it is called, and where it is."""

    text: str
    name: str
    site: Site


def running_value(case: Case, among: list[int]) -> RunningValue | None:
    """The statement that goes on from what it made before the last of some passes, by their rows; None when there is none."""
    walk, edges = case.walk, case.walk.edges
    free = ~case.walk.mask(case.facts.trace.records[case.facts.run_rows, 1]) & ~walk.leaves & (walk.born >= 0)
    free &= walk.in_pass == 0
    starts = np.array(sorted(among), np.int64)
    turn = np.searchsorted(starts, walk.born)
    across = free[edges.source] & free[edges.target] & (turn[edges.source] > turn[edges.target])
    words = walk.made_at[edges.source[across]]
    for word in np.unique(words).tolist():
        site, _ = case.facts.site_and_op(word)
        turns = len(np.unique(turn[edges.source[across][words == word]]))
        found = _carried_on(site) if turns >= LINKS else None
        if found is not None:
            return found
    return None


def _carried_on(site: Site) -> RunningValue | None:
    """The statement at a site, where it gives a name a value computed from what had the name before."""
    reading = read(site)
    statement = reading.statement if reading is not None else None
    if isinstance(statement, ast.AugAssign):
        name = name_of(statement.target)
        return RunningValue(quoted(unparse(statement)), name, site) if name else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    name = name_of(statement.targets[0])
    used = {name_of(each) for each in ast.walk(statement.value) if isinstance(each, ast.expr)}
    found = RunningValue(quoted(unparse(statement)), name, site)
    return found if name and name in used else None
