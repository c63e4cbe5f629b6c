"""Whether a hook wrote to a gradient that it was given, and whose gradient lies in the same memory: for instruments only."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import events
from ..node import Edge
from ..storage import version_of

if TYPE_CHECKING:
    from ..backward import BackwardPass
    from ..node import Node
    from ..tensor import Tensor

_NO_GRADIENT = ("post-accumulate", "multi")
"""Kinds of hooks that are not called with gradients on their way, or with a list that is their own."""


class Watch:
    """The gradients that a hook is about to be called with, and their versions."""

    def __init__(self, kind: str, node: Node | None, args: tuple[Any, ...]) -> None:
        self._node = node
        self._inputs = len(args) == 2  # gradients of inputs, then of outputs
        given = [] if kind in _NO_GRADIENT else [(part, i, t) for part, i, t in _tensors(args)]
        sink = events.sink
        self._summed = sink is not None and sink.sums_gradients
        self._before = [(part, i, t, version_of(t), self._sum(t)) for part, i, t in given]

    def written(self) -> list[tuple[int, int, Tensor]]:
        """Those that were written since: argument of the hook, place in it, and the tensor."""
        return [(p, i, t) for p, i, t, version, was in self._before if version_of(t) != version or self._sum(t) != was]

    def _sum(self, t: Tensor) -> int:
        """A checksum of the content, where it is wanted: writes by ``.data`` or through NumPy count no version."""
        if not self._summed or not isinstance(t._a, np.ndarray):
            return 0
        return zlib.crc32(t._a.tobytes())

    def shared_with(self, bp: BackwardPass, written: list[tuple[int, int, Tensor]]) -> Edge | None:
        """Where another gradient in the memory of one of those waits, or goes to."""
        found = (each for part, i, t in written for each in self._others(bp, part, i, t))
        return next(found, None)

    def _others(self, bp: BackwardPass, part: int, i: int, t: Tensor) -> Iterator[Edge]:
        if self._inputs and self._node is not None and part == 0:
            edges = self._node.next_functions
            for other_part, k, other, *_ in self._before:
                if other_part == 0 and k != i and k < len(edges) and edges[k].node is not None and _shares(t, other):
                    yield edges[k]
        for key, g in list(bp.buffers.items()):
            if _shares(t, g):
                yield Edge(*key) if isinstance(key, tuple) else Edge(key, 0)


def facts(watch: Watch | None, bp: BackwardPass | None, number: int, hook: Any, ns: int = 0) -> events.HookFacts:
    """What is told of a hook that has fired, and took ``ns`` nanoseconds."""
    written = [] if watch is None else watch.written()
    if not written or watch is None or bp is None:
        return events.HookFacts(number, hook, ns=ns)
    return events.HookFacts(number, hook, None, True, watch.shared_with(bp, written), ns)


def _tensors(args: tuple[Any, ...]) -> Iterator[tuple[int, int, Tensor]]:
    from ..tensor import Tensor

    for part, arg in enumerate(args):
        for i, t in enumerate(arg if isinstance(arg, tuple) else (arg,)):
            if isinstance(t, Tensor):
                yield part, i, t


def _shares(t: Tensor, other: Any) -> bool:
    a, b = t._a, getattr(other, "_a", other)
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and bool(np.may_share_memory(a, b))
