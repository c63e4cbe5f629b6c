"""The memory of a result that a node saved: whoever reads it there, and the result itself, count its writes together.

A result gets its storage object at first need, and asks the node that saved it for the one that others may have. But a node that
was freed has none, though what was read before, or a node of second order, still has. So it is also found by its buffer.
"""

from __future__ import annotations

import gc
import weakref
from types import CodeType
from typing import TYPE_CHECKING, Any

from ..storage import Storage, counting
from . import Freed, Packed

if TYPE_CHECKING:
    from ..node import Node
    from ..tensor import Tensor

_by_buffer: dict[int, tuple[weakref.ref[Any], weakref.ref[Storage]]] = {}
"""By the id of a buffer, which is there as well: the storage that its tensor, or the node that saved it, does not know of."""


class SeenStorage(Storage):
    """Storage of a saved result that its tensor does not know of: a tensor asks its node for one when it needs it, and not before.

    The node knows no way to the tensor, which would be a cycle: the first write looks for it. The collector knows who has a buffer.
    """

    __slots__ = ("_buffer",)

    def __init__(self, buffer: Any) -> None:
        super().__init__()
        self._buffer: weakref.ref[Any] | None = weakref.ref(buffer)

    def wrote(self, op: str, code: CodeType, lasti: int) -> None:
        """As of any, and from now on the tensor on that memory has it."""
        with counting():
            buffer = None if self._buffer is None else self._buffer()
            self._buffer = None
            if buffer is not None and not self._give(buffer) and gc.get_freeze_count():
                # what is frozen refers to nothing, as far as the collector tells
                gc.collect()  # else garbage would be frozen for good
                gc.unfreeze()
                self._give(buffer)
                gc.freeze()
            super().wrote(op, code, lasti)

    def known(self) -> SeenStorage:
        """This one, which the tensor has now: nobody needs to look for it."""
        self._buffer = None
        return self

    def _give(self, buffer: Any) -> bool:
        """Let the tensor on a buffer have this storage; whether there is one. Its ``.data``, without history, counts by itself."""
        from ..tensor import Tensor

        given = False
        for found in gc.get_referrers(buffer):
            if isinstance(found, Tensor) and found._a is buffer and found._fn is not None and found._storage is None:
                found._storage, given = self, True
        return given


def remember(buffer: Any, storage: Storage) -> None:
    """Let :func:`storage_at` find the storage of a buffer as long as both are there."""
    key = id(buffer)
    _by_buffer[key] = (weakref.ref(buffer, lambda _, key=key: _by_buffer.pop(key, None)), weakref.ref(storage))  # type: ignore[misc]


def storage_at(buffer: Any) -> Storage | None:
    """The storage that was remembered for a buffer."""
    known = _by_buffer.get(id(buffer))
    return known[1]() if known is not None and known[0]() is buffer else None


def storage_for(t: Tensor, node: Node, new: Storage) -> Storage:
    """The storage of ``t``, a result of ``node``, which has none: ``new`` unless somebody who read the result has one."""
    found = storage_at(t._a) or node.output_storage(new)
    if isinstance(found, SeenStorage):
        return found.known()
    if found is new and isinstance(getattr(node, "o_storage", None), Freed):
        remember(t._a, new)  # the node wants it when a pass is undone
    return found


def rejoin(node: Node) -> None:
    """Give ``node``, which has its result again, the storage that the result got while the node was freed."""
    for slot, is_output in zip(node.slots, node.outputs_saved, strict=True):
        if is_output:
            held = getattr(node, "s_" + slot)
            held = held.seen() if isinstance(held, Packed) else held
            storage = storage_at(getattr(held, "_a", held))
            if storage is not None:
                node.output_storage(storage)
