"""Of several tellings of one fact the one that counts: the strongest provenance, and of equals the later record."""

from typing import Any

import numpy as np
import numpy.typing as npt


def strongest(
    source: npt.NDArray[Any],
    index: npt.NDArray[Any],
    provenance: npt.NDArray[Any],
    age: npt.NDArray[Any],
) -> npt.NDArray[np.bool_]:
    """Which of the tellings of an edge, input ``index`` of ``source``, count: one of each; a higher ``age`` is later."""
    order = np.lexsort((age, -provenance, index, source))
    last = np.ones(len(order), bool)
    last[:-1] = (np.diff(source[order]) != 0) | (np.diff(index[order]) != 0)
    best = np.zeros(len(order), bool)
    best[order[last]] = True
    return best
