"""Fair timing on noisy machines: all sides interleaved in one process, CPU time of this thread, medians, ratios."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workloads import Workload

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


class Apart:
    """Median seconds of the forward and of the backward part of one workload."""

    def __init__(self, forward: float, backward: float) -> None:
        self.forward = forward
        self.backward = backward
        self.total = forward + backward


def medians_apart(sides: Mapping[str, Workload], rounds: int = 25) -> dict[str, Apart]:
    """Medians by side, the two parts of a step timed one after the other; sides interleaved as in :func:`medians`."""
    for side in sides.values():
        side()
    taken: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            started = time.thread_time()
            root = side.forward()
            built = time.thread_time()
            side.backward(root)
            del root
            ended = time.thread_time()
            taken[name][0].append(built - started)
            taken[name][1].append(ended - built)
    return {name: Apart(*(statistics.median(part) for part in parts)) for name, parts in taken.items()}
