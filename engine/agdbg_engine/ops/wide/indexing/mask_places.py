"""What a mask picks on a device, without asking it how much that is: positions by running counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....device import array_module


def places(mask: Any, n: int) -> tuple[Any, Any]:
    """Where the first ``n`` true elements of ``mask`` are, flat, and which of these there are: the others are at the last place."""
    counts = mask.reshape(-1).cumsum(dtype=np.int64)
    wanted = array_module(mask).arange(1, n + 1, dtype=np.int64)
    at = np.searchsorted(counts, wanted, "left")  # the first place by which there are so many
    return np.minimum(at, max(mask.size - 1, 0)), at < mask.size


def spread(source: Any, mask: Any, out: Any) -> Any:
    """``out`` with the first elements of ``source`` where ``mask``, of the same shape, in order; the last for all that it lacks."""
    if not source.size or not mask.size:
        return out
    number = mask.reshape(-1).cumsum(dtype=np.int64) - 1
    taken = source.reshape(-1)[np.clip(number, 0, source.size - 1)]
    return np.where(mask, taken.reshape(mask.shape), out)
