"""Fair timing on noisy machines: all sides interleaved in one process, CPU time of this thread, medians, ratios."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def one_thread() -> None:
    """One BLAS thread: to be called before NumPy is imported."""
    os.environ.update(ONE_THREAD)


def medians(sides: Mapping[str, Callable[[], object]], rounds: int = 25, inner: int = 2) -> dict[str, float]:
    """Median seconds of one call by side; every round times every side ``inner`` times in a row."""
    for side in sides.values():
        side()
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            start = time.thread_time()
            for _ in range(inner):
                side()
            taken[name].append((time.thread_time() - start) / inner)
    return {name: statistics.median(times) for name, times in taken.items()}
