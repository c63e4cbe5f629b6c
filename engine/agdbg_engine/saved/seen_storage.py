"""The memory of a result that was read from the node which saved it: a write through what was read is one to the result itself."""

from __future__ import annotations

import gc
import weakref
from types import CodeType
from typing import Any

from ..storage import Storage, counting


class SeenStorage(Storage):
    """Storage of a saved result that its tensor does not know of: a tensor asks its node for one when it needs it, and not before.

    The node knows no way to the tensor, which would be a cycle: the first write looks for it. The collector knows who has a buffer.
    """

    __slots__ = ("_buffer",)

    def __init__(self, buffer: Any) -> None:
        super().__init__()
        self._buffer: weakref.ref[Any] | None = weakref.ref(buffer)

    def wrote(self, op: str, code: CodeType, lasti: int) -> None:
        """As of any, and from now on all tensors on that memory have it."""
        with counting():
            buffer = None if self._buffer is None else self._buffer()
            self._buffer = None
            if buffer is not None:
                self._give(buffer)
            super().wrote(op, code, lasti)

    def _give(self, buffer: Any) -> None:
        from ..tensor import Tensor

        frozen = gc.get_freeze_count()
        if frozen:  # what is frozen refers to nothing, as far as the collector tells
            gc.unfreeze()
        for found in gc.get_referrers(buffer):
            if isinstance(found, Tensor) and found._a is buffer and found._storage is None:
                found._storage = self
        if frozen:
            gc.freeze()
