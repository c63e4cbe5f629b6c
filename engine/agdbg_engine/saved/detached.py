"""``detach_()`` of a tensor that nodes have saved: its history, which they need, is gone.

It leaves a mark where unpacking looks anyway: the version of the memory becomes a number that differs (``!=``) from every other,
also from an equal one, so that a node which saved it before comes to :func:`agdbg_engine.saved.unpacked`.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from .. import errors

if TYPE_CHECKING:
    from ..node import Node
    from ..tensor import Tensor


class Marked(int):
    """A version, ``==`` to its number; what was saved in it afterwards has this very object."""

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __add__(self, other: int) -> Marked:
        return Marked(int(self) + other)


_when: dict[int, tuple[weakref.ref[Tensor], int]] = {}
"""By the identity of a tensor that lost its history the sequence number of that moment."""


def mark(t: Tensor) -> None:
    """``t`` is about to lose its history."""
    from ..node import next_seq
    from ..storage import InferenceStorage

    storage = t._shared_storage()
    if isinstance(storage, InferenceStorage):  # has no version, and cannot have been saved
        return
    storage.version = Marked(storage.version)
    key = id(t)
    _when[key] = weakref.ref(t, lambda _: _when.pop(key, None)), next_seq()


def lost(saved: Any) -> int:
    """The sequence number of the moment when ``saved`` lost its history; 0 if it never did."""
    found = _when.get(id(saved))
    return found[1] if found is not None and found[0]() is saved else 0


def check(node: Node, saved: Any) -> None:
    """Raise if ``saved`` lost its history after ``node`` had saved it, and has not got another one by a write."""
    if node.seq < lost(saved) and saved._fn is None:
        raise errors.detached(node)
