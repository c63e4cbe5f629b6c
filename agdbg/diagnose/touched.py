"""When a memory was first or last read without a gradient, or written.

Needs: CUT, BUMP.
"""

import numpy as np
from numpy.typing import NDArray

from agdbg.diagnose.case import Case
from agdbg.events import Kind


def last_read(case: Case, storages: set[int]) -> int:
    """The row at which one of these memories was last read without a gradient, -1 for never; what an op copies counts."""
    return _last(case, Kind.CUT, storages)


def first_read(case: Case, storage: int) -> int:
    """The row at which a memory was first read without a gradient, -1 for never."""
    rows = _rows(case, Kind.CUT, {storage})
    return int(rows[0]) if len(rows) else -1


def last_touched(case: Case, storages: set[int]) -> int:
    """The row at which one of these memories was last read without a gradient or written, by an optimizer's step or else."""
    return max(last_read(case, storages), _last(case, Kind.BUMP, storages))


def _last(case: Case, kind: Kind, storages: set[int]) -> int:
    mine = _rows(case, kind, storages)
    return int(mine[-1]) if len(mine) else -1


def _rows(case: Case, kind: Kind, storages: set[int]) -> NDArray[np.int64]:
    rows = case.facts.rows(kind)
    mine: NDArray[np.int64] = rows[np.isin(case.facts.trace.records[rows, 1], np.array(sorted(storages), np.uint64))]
    return mine
