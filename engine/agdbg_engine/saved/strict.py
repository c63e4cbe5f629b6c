"""Strict mode: memory that saved tensors lie in is read-only, so that a write fails at the line that makes it.

Every saved tensor has a :class:`Hold` on the :class:`Lock` of its memory; the slot of the node keeps the hold, so it goes when
backward releases the slot or the node dies, and the memory becomes writable again with the last one. The engine refuses its own
writes through every tensor of that memory and says who saved it; NumPy refuses those through the arrays that are locked: the
saved array, the owner of its memory, and views made of them meanwhile. An earlier NumPy view stays writable,
and one that NumPy made meanwhile (``t.numpy()[:2]``) stays read-only afterwards: take it again.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from collections.abc import Iterator
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors, events
from ..grad_mode import mode
from ..meta import AutogradMeta
from ..node import Node
from ..saved import Packed
from ..sites import where
from ..tensor import Tensor, wrap
from ..view import set_output
from . import detached

if TYPE_CHECKING:
    from ..tangents import ForwardGrad

_locks: dict[int, Lock] = {}
"""The locked memory, by the identity of the array that owns it (which the lock keeps alive)."""

_guard = threading.RLock()
"""Re-entrant: a hold may end wherever Python drops the last reference to it."""


def owner(array: Any) -> Any:
    """The array that owns the memory of ``array``, as far down as there are arrays."""
    kind: type[Any] = np.ndarray if isinstance(array, np.ndarray) else type(array)
    while True:
        base = getattr(array, "base", None)
        if not isinstance(base, kind):
            base = getattr(base, "base", None)  # NumPy's as_strided() puts an object between
        if not isinstance(base, kind):
            return array
        array = base


def _hidden(array: Any) -> bool:
    """Whether NumPy does not see whose memory ``array`` lies in, as after ``as_strided()``: it could not be made writable again."""
    return (
        array.base is not None and not isinstance(array.base, np.ndarray) and hasattr(array.base, "__array_interface__")
    )


class Lock:
    """One piece of memory that may not be written to while ``count`` saved tensors hold it."""

    __slots__ = ("_lifted", "_owner", "count", "holds")

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._lifted: list[weakref.ref[Any]] = []
        self.count = 0
        self.holds: weakref.WeakSet[Hold] = weakref.WeakSet()
        events.use(events.STRICT)
        self.protect(owner)

    @property
    def frozen(self) -> bool:
        """Whether the memory was writable before."""
        return bool(self._lifted)

    def protect(self, array: Any) -> None:
        """Make ``array``, which lies in this memory, read-only until the end of the lock."""
        if isinstance(array, np.ndarray) and array.flags.writeable and not _hidden(array):
            array.flags.writeable = False
            self.lift_at_end(array)

    def lift_at_end(self, array: Any) -> None:
        """``array`` is to be writable after the end of the lock."""
        self._lifted.append(weakref.ref(array))

    def release(self) -> None:
        """One saved tensor less; with the last one the lock ends."""
        self.count -= 1
        if self.count == 0:
            del _locks[id(self._owner)]
            for ref in self._lifted:
                array = ref()
                if array is not None and not _hidden(array):
                    array.flags.writeable = True
            events.use(events.STRICT, -1)


class Hold:
    """One saved tensor's share in a lock."""

    __slots__ = ("__weakref__", "code", "lasti", "lock", "node", "slot")

    def __init__(self, lock: Lock, node: Node, slot: str) -> None:
        self.lock = lock
        self.node = weakref.ref(node)
        self.slot = slot
        self.code: CodeType = node.code
        self.lasti: int = node.lasti
        lock.holds.add(self)

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if not finalizing():
            with _guard:
                self.lock.release()


def hold(node: Node, slot: str, t: Tensor) -> Hold:
    """Lock the memory of ``t`` for ``slot`` of ``node``, which saved it."""
    mine = owner(t._a)
    with _guard:
        lock = _counted(mine)
        lock.protect(t._a)
        return Hold(lock, node, slot)


def _counted(owner: Any) -> Lock:
    """The lock of ``owner``, one more counted: it cannot end any more (the last other hold may end right before)."""
    while True:
        lock = _locks.get(id(owner))
        if lock is None:
            lock = _locks[id(owner)] = Lock(owner)
        lock.count += 1
        if _locks.get(id(owner)) is lock:
            return lock


class Locked(Packed):
    """What stands in a slot whose tensor is locked: the tensor itself (the buffer of a saved output) and the hold."""

    __slots__ = ("_nr", "_value", "hold", "is_output", "tangents")

    def __init__(self, t: Tensor, hold: Hold, is_output: bool) -> None:
        self.real_storage = t._shared_storage()
        self.independent = False
        self.hold = hold
        self.is_output = is_output
        self._nr = t._nr
        self._value: Any = t._a if is_output else t
        self.tangents: ForwardGrad | None = None if t._meta is None else t._meta.tangents

    @property
    def array(self) -> Any:
        """The locked buffer."""
        return self._value if self.is_output else self._value._a

    @property
    def grad_fn(self) -> Node | None:
        """The node that made the saved tensor."""
        found: Node | None = None if self.is_output else self._value.grad_fn
        return found

    def seen(self) -> Any:
        """The tensor, or the buffer of a saved output."""
        return self._value

    def unpack(self, node: Node, slot: str) -> Tensor:
        """The saved input itself; a saved output with its history."""
        if not self.is_output:
            found: Tensor = self._value
            detached.check(node, found)
            return found
        t = wrap(self._value)
        t._storage, t._rg = self.real_storage, True
        set_output(t, node, self._nr)
        if self.tangents is not None:
            t._meta = t._meta or AutogradMeta()
            t._meta.tangents = self.tangents
        return t


def follow(view: Tensor) -> None:
    """``view`` was just made; if its memory is locked it was born read-only, and is to be writable with the rest."""
    if isinstance(view._a, np.ndarray):
        with _guard:
            lock = _locks.get(id(owner(view._a)))
            if lock is not None and lock.frozen:
                lock.lift_at_end(view._a)


def let_go(node: Node | None, *slots: str) -> None:
    """Unlock what ``node`` has saved in ``slots`` but does not read: as running statistics of a training, which it mixes itself."""
    for slot in slots:
        value = None if node is None else getattr(node, "s_" + slot, None)
        if isinstance(value, Locked):
            setattr(node, "s_" + slot, value.seen())
        elif isinstance(value, Packed) and hasattr(value, "hold"):
            value.hold = None  # of hooks that gave the tensor itself back


def refuse(t: Tensor, op: str) -> None:
    """Raise if ``op`` is about to write to locked memory; the error names who saved it."""
    if id(owner(t._a)) in _locks:
        raise _refusal(t, op)  # made elsewhere: the frame that raises must hold nothing, or the traceback would


def _refusal(t: Tensor, op: str) -> Exception:
    lock = _locks.get(id(owner(t._a)))
    holds = [] if lock is None else sorted(lock.holds, key=_age)
    node = holds[0].node() if holds else None  # none when another thread releases the last one just now
    by = "" if node is None else f" by {errors.forward_name(node)}"
    return errors.make(
        RuntimeError,
        errors.Details("saved-written", node, None if node is None else node.slots.index(holds[0].slot), t._storage),
        f"{op} would write to memory that was saved{by} for gradient computation, and saved tensors are strict.",
        *(f"saved as '{h.slot}' at {where(h.code, h.lasti)}" for h in holds[:8]),
        "fix: write the op out of place (x = x * 2, not x *= 2), do it after backward(), or save a clone()",
    )


def _age(hold: Hold) -> int:
    node = hold.node()
    return 0 if node is None else node.seq


@contextlib.contextmanager
def strict_saved_tensors() -> Iterator[None]:
    """Tensors that ops of this thread save in here are read-only until they are released (off by default).

    A write to their memory then raises at its own line: a :class:`RuntimeError` that names who saved it when an op, an optimizer
    or an accumulated gradient is about to write, NumPy's :class:`ValueError` when NumPy is.
    """
    mode.strict += 1
    events.use(events.STRICT)
    try:
        yield
    finally:
        mode.strict -= 1
        events.use(events.STRICT, -1)


@contextlib.contextmanager
def suspended() -> Iterator[None]:
    """What ops of this thread save in here is not locked: for functions that change their own inputs, as gradcheck does."""
    before, mode.strict = mode.strict, 0
    try:
        yield
    finally:
        mode.strict = before
