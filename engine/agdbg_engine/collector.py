"""Python's garbage collector and big graphs: an explicit setting, never changed on import.

Graphs have no reference cycles, so the collector finds nothing in them; but it looks at every new object again and again while a
graph grows. With the default thresholds a graph of 100,000 nodes takes several times as long to build as with a higher one.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType


@contextmanager
def no_collection() -> Iterator[None]:
    """Collect no garbage meanwhile: for imports, since what they make stays and is looked through again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class tune_gc:
    """Collect young objects once in ``threshold`` allocations: for graphs of more than about 2,000 nodes.

    As a plain call it stays set; as a context the former thresholds are put back. Raises :class:`ValueError` for a threshold
    below 1.

    >>> import agdbg_engine as ag
    >>> with ag.tune_gc():
    ...     pass
    """

    def __init__(self, threshold: int = 50_000) -> None:
        if threshold < 1:
            raise ValueError(
                f"threshold is a number of allocations, at least 1, not {threshold}; gc.disable() turns it off"
            )
        self.before = gc.get_threshold()
        gc.set_threshold(threshold, *self.before[1:])

    def __enter__(self) -> tune_gc:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        gc.set_threshold(*self.before)
