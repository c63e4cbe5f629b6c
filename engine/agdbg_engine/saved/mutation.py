"""What is to happen before memory is written: copies where saved tensors may be written to, refusal where they may not.

Under :func:`allow_mutation_on_saved_tensors` a slot keeps a handle. The tensor behind it is the saved one until its memory is
about to be written, through whichever tensor, view or ``data``, and a copy of it from then on.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator

from .. import events
from ..device import owner
from ..several import copied
from ..sites import caller
from ..tensor import Tensor, wrap
from . import strict
from .hooks import Pair, pop, push

OUTSIDE = "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was originally recorded."
"""PyTorch's text, its missing space included."""


def before_write(t: Tensor, op: str) -> None:
    """``op`` is about to write to the memory of ``t``: called where a rare mode is in use (``events.special``)."""
    if events.special & events.WRITES and events.sink is not None:
        events.sink.write_coming(t, op, *caller())
    if _open is not None:
        _open.save(t)
    if events.special & events.STRICT:
        strict.refuse(t, op)


class Handle:
    """Stands for one saved tensor; alive while a slot keeps it."""

    __slots__ = ("__weakref__", "key")

    def __init__(self, key: tuple[int, int]) -> None:
        self.key = key


class MutationContext:
    """What one context keeps, by handle: the ``original`` tensors and the ``cloned`` ones, which were written to since."""

    def __init__(self) -> None:
        self.original: weakref.WeakKeyDictionary[Handle, Tensor] = weakref.WeakKeyDictionary()
        self.cloned: weakref.WeakKeyDictionary[Handle, Tensor] = weakref.WeakKeyDictionary()
        self._known: weakref.WeakValueDictionary[tuple[int, int], Handle] = weakref.WeakValueDictionary()
        self._by_memory: dict[int, weakref.WeakSet[Handle]] = {}
        """By the identity of the buffer that owns it: what ``data`` gives has the memory, but no storage to be known by."""

    def pack(self, t: Tensor) -> Handle:
        """A handle for ``t``: the same one for the same tensor in the same version."""
        key = (id(t), t._version)
        handle = self._known.get(key)
        if handle is None:
            handle = Handle(key)
            self.original[handle] = t
            self._known[key] = handle
            self._forget_released()
            self._by_memory.setdefault(id(owner(t._a)), weakref.WeakSet()).add(handle)
        return handle

    def unpack(self, handle: Handle) -> Tensor:
        """The tensor as it was saved; raises :class:`AssertionError` outside of the context."""
        found = self.cloned.get(handle)
        if found is None:
            found = self.original.get(handle)
        if found is None:
            raise AssertionError(OUTSIDE)
        return found

    def keeps(self, handle: Handle) -> list[Tensor]:
        """What is in memory for ``handle``."""
        found = self.cloned.get(handle)
        found = self.original.get(handle) if found is None else found
        return [] if found is None else [found]

    def _forget_released(self) -> None:
        """Drop the entries whose handles nobody keeps any more, once they are most."""
        if len(self._by_memory) > 64 + 2 * len(self.original):
            self._by_memory = {key: handles for key, handles in self._by_memory.items() if handles}

    def save(self, t: Tensor) -> None:
        """Copy what was saved of the memory of ``t``, which is about to be written."""
        handles = [h for h in self._by_memory.pop(id(owner(t._a)), ()) if h in self.original]
        for handle in handles:
            self._known.pop(handle.key, None)
            self.cloned[handle] = wrap(copied(self.original.pop(handle)._a))
        if handles and events.sink is not None:
            events.sink.saved_cloned(t, len(handles), *caller())

    def clear(self) -> None:
        """Forget everything: what was saved cannot be unpacked any more."""
        for kept in (self.original, self.cloned, self._known, self._by_memory):
            kept.clear()


_open: MutationContext | None = None


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[MutationContext]:
    """Inside, tensors that ops save may be written to: they are copied before the first write to their memory.

    Forward and backward must both run inside; unpacking outside raises :class:`AssertionError`. Cannot be nested
    (:class:`RuntimeError`). Writes by NumPy are not seen.
    """
    global _open
    if _open is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = MutationContext()
    push(Pair(context.pack, context.unpack, guarded=True))
    _open = context
    try:
        yield context
    finally:
        _open = None
        context.clear()
        pop()
