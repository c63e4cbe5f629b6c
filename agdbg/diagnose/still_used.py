"""Whether a tensor that an optimizer has is still in use: a name in common with another one says nothing about that.

Needs: MODULE and TENSOR (whose parameter it is), edges, RAN, CUT (reads without a gradient), BUMP.
"""

import numpy as np

from agdbg.diagnose.case import Case
from agdbg.diagnose.leaves import Leaf
from agdbg.diagnose.touched import last_read
from agdbg.events import Kind, ModuleEvent


def models_of(case: Case) -> dict[int, set[int]]:
    """Of each storage the numbers of the models that told it as theirs.

    A model that is called as a whole tells its modules, itself first, and then its parameters.
    """
    facts = case.facts
    rows = facts.rows(Kind.MODULE)
    words = facts.trace.records[rows]
    roots = (words[:, 0] >> np.uint64(16) & np.uint64(255) == ModuleEvent.NAMED) & (words[:, 3] == 0)
    starts, numbers = rows[roots], words[roots, 1].tolist()
    found: dict[int, set[int]] = {}
    for told in facts.tensors:
        at = int(starts.searchsorted(told.row)) - 1
        if told.kind == "parameter" and not told.producer and at >= 0:
            found.setdefault(told.storage, set()).add(numbers[at])
    return found


def last_use(case: Case, leaf: Leaf) -> int:
    """The row at which a leaf last entered a graph, was read, or got a gradient; -1 when it never did."""
    walk, edges = case.walk, case.walk.edges
    users = edges.source[np.isin(edges.target, leaf.places)]
    nodes = walk.ids[leaf.places].tolist()
    runs = [run.row for node in nodes for run in case.facts.runs_of(node)[-1:]]
    return max([*walk.born[users].tolist(), *runs, last_read(case, {leaf.storage})], default=-1)
