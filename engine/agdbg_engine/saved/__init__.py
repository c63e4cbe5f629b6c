"""Saved tensors: the version check, what stands in a freed slot, and readable views of the flat slots.

A slot ``s_<name>`` of a node holds a saved *input* as the tensor itself and a saved *output* as its bare buffer, and
``v_<name>`` the version at saving. An output's buffer has no way back to the node, so a graph never forms a
cycle; the node is found again at unpack because the node itself does it (PyTorch's weak ``grad_fn``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any, NoReturn

from .. import errors
from ..current import current
from ..storage import InferenceStorage
from . import detached

if TYPE_CHECKING:
    from ..backward import BackwardPass
    from ..node import Node
    from ..storage import Storage
    from ..tangents import ForwardGrad
    from ..tensor import Tensor


class FreedAccess(Exception):
    """A freed slot was read; ``freed`` tells who freed it."""

    def __init__(self, freed: Freed) -> None:
        super().__init__("saved tensor read after it was freed")
        self.freed = freed


class Freed:
    """Stands in every slot that one backward call released: reading what a tensor has raises :class:`FreedAccess`.

    The hot path therefore needs no test for "freed": it reads ``slot._storage`` or ``storage.version`` anyway.
    """

    __slots__ = ("call", "code", "lasti")

    def __init__(self, call: str, code: CodeType, lasti: int) -> None:
        self.call = call
        self.code = code
        self.lasti = lasti

    @property
    def _storage(self) -> NoReturn:
        raise FreedAccess(self)

    @property
    def version(self) -> NoReturn:
        """Never: raises :class:`FreedAccess`."""
        raise FreedAccess(self)

    __array_ufunc__ = None  # so that an array leaves the arithmetic to this

    def _read(self, other: object) -> NoReturn:
        raise FreedAccess(self)

    __rmul__ = __rtruediv__ = _read
    """A number that was freed is a factor or a divisor in the formula that reads it."""

    def __iter__(self) -> Iterator[Any]:
        """Never: raises :class:`FreedAccess`. Index tensors are freed too."""
        raise FreedAccess(self)


class Packed:
    """Stands in a slot whose tensor is kept in another way: by the user's hooks, say.

    Its version is none that a slot can have been saved at, so that the hot path finds it out by the test for writes
    that it makes anyway, and asks :func:`unpacked`. A saved output stands in ``s_<name>`` and ``o_storage`` alike.
    """

    __slots__ = ("independent", "real_storage")
    version = -1

    real_storage: Storage | None
    """The storage of the saved tensor, whose version is checked: hooks do not switch the check off. ``None`` when it has
    none yet, or the slot keeps a copy."""
    certain = True
    """Whether the slot surely keeps that memory itself, so that a write to it makes what is kept useless."""
    independent: bool
    """Whether the slot keeps a copy, so that writes to the tensor do not matter."""
    is_output: bool = False
    """Whether a result of the node is kept, of those that say so."""
    tangents: ForwardGrad | None = None
    """Those of the saved tensor, where the slot does not keep the tensor itself."""

    @property
    def calls_user(self) -> bool:
        """Whether unpacking calls functions of the user."""
        return False

    @property
    def _storage(self) -> Packed:
        return self

    array: Any
    """What has the shape and dtype of the tensor, for messages: nobody is called for it."""

    def seen(self) -> Any:
        """What an inspector shows as the content of the slot: the tensor or buffer if it is there as it was, else this object."""
        return self

    def arrays(self) -> Iterable[Any]:
        """The buffers that the slot keeps in memory, as far as can be seen; nobody is called for them."""
        value = self.seen()
        return [getattr(value, "_a", value)]

    def late(self, storage: Storage) -> None:
        """The saved output got its ``storage`` only now."""
        if self.real_storage is None and not self.independent:
            self.real_storage = storage

    def unpack_again(self, bp: BackwardPass) -> None:
        """``bp`` has gone back over the node, which will unpack this once more."""

    def unpack(self, node: Node, slot: str) -> Tensor:
        """The tensor; versions have been checked, unless it is not :attr:`certain` that they matter."""
        raise NotImplementedError


def late_storage(kept: Any, storage: Storage) -> Storage:
    """The storage of a saved output that would take ``storage``, when ``kept`` stands in its place already."""
    if isinstance(kept, Packed):
        kept.late(storage)
        return kept.real_storage or storage
    return storage if isinstance(kept, Freed) else kept


def share_result(node: Node, slot: str, buffer: Any) -> None:
    """Let all that is read of a result that ``node`` saved have one storage: whoever gets it may write to it."""
    from ..view import storage_of_result

    if not isinstance(buffer, Freed | Packed) and _storage_of(node, slot) is None:
        storage_of_result(node, buffer)


def unpacked(node: Node, slot: str, storage: Storage | Packed, as_it_is: bool = False) -> Tensor:
    """What to do about a slot whose storage has another version than when it was saved: unpack it if it is packed,
    else raise PyTorch's "modified by an inplace operation", or "detached in-place" where that is what happened.

    ``as_it_is``: a tensor that was detached in place is given as it is now, as to a custom Function and to whoever looks at a node.
    """
    expected = getattr(node, "v_" + slot)
    if isinstance(storage, Packed):
        real = storage.real_storage
        if real is None or not storage.certain or real.version == expected:
            before, current.node = current.node, node if current.bp is not None else None
            try:  # the user's function may ask who runs, and plain nodes run without saying so
                return storage.unpack(node, slot)
            finally:
                current.node = before
        storage = real
    found = getattr(node, "s_" + slot)
    if not as_it_is:
        detached.check(node, found)
    if storage.version == expected:  # as numbers: a tensor on that memory was detached, but it is not this one
        return _output(node, found, storage) if node.outputs_saved[node.slots.index(slot)] else found
    if not (as_it_is or node.user_code):
        slot, storage = _named(node, slot, storage)
    raise errors.inplace_modified(node, slot, storage, as_it_is)


def _named(node: Node, slot: str, storage: Storage) -> tuple[str, Storage]:
    """Which modified tensor of ``node`` PyTorch names, though that in ``slot`` is one, and its memory.

    It unpacks all that a node has saved in the order of their names, the results last, before it computes the first gradient.
    """
    outputs = dict(zip(node.slots, node.outputs_saved, strict=True))
    for name in sorted(node.slots, key=lambda name: (outputs[name], name)):
        value = getattr(node, "s_" + name)
        if name == slot:
            break
        if value is None or isinstance(value, Freed | Packed):
            continue
        found = _storage_of(node, name)
        if found is not None and found.version != getattr(node, "v_" + name):
            detached.check(node, value)
            if not found.version == getattr(node, "v_" + name):  # noqa: SIM201 - see saved.detached
                return name, found
    return slot, storage


def _output(node: Node, buffer: Any, storage: Storage | None) -> Tensor:
    from ..view import saved_output

    return saved_output(node, buffer, storage)


@dataclass(frozen=True)
class SavedTensor:
    """One saved tensor of a node, as an inspector shows it."""

    node: Node
    slot: str
    is_output: bool
    value: Any
    """The saved :class:`Tensor`, the bare buffer of a saved output, ``None`` when not saved, :class:`Freed` or :class:`Packed`."""
    version: int
    """Version when it was saved."""

    @property
    def freed(self) -> bool:
        """Whether a backward call has released it."""
        return isinstance(self.value, Freed)

    @property
    def storage(self) -> Storage | None:
        """The storage it lies in, if anything else can share it."""
        if self.freed or self.value is None:
            return None
        return _storage_of(self.node, self.slot)

    def unpack(self) -> Tensor:
        """The tensor for whoever asks, checked: raises PyTorch's errors when freed or modified since."""
        if self.is_output:
            share_result(self.node, self.slot, self.value)
        return self.checked()

    def checked(self, as_it_is: bool = True) -> Tensor:
        """As :meth:`unpack`, for nobody who would write to it; ``as_it_is`` as in :func:`unpacked`."""
        if isinstance(self.value, Freed):
            raise errors.backward_twice(self.node, self.value)
        storage = self.storage
        held = getattr(self.node, "s_" + self.slot)
        if isinstance(held, Packed):
            return unpacked(self.node, self.slot, held, as_it_is)
        if storage is not None and storage.version != self.version:
            return unpacked(self.node, self.slot, storage, as_it_is)
        return _output(self.node, self.value, storage) if self.is_output else self.value


def saved_slots(node: Node) -> tuple[SavedTensor, ...]:
    """The saved tensors of ``node`` in slot order."""
    return tuple(
        SavedTensor(node, name, is_output, seen(getattr(node, "s_" + name)), getattr(node, "v_" + name))
        for name, is_output in zip(node.slots, node.outputs_saved, strict=True)
    )


def seen(value: Any) -> Any:
    """What an inspector shows for ``value``, which stands in a slot."""
    return value.seen() if isinstance(value, Packed) else value


def unpack_all(node: Node) -> None:
    """Unpack what ``node`` saved and forget it: no gradient has come, but PyTorch sees that only after unpacking."""
    for name in node.slots:
        if getattr(node, "s_" + name) is not None:
            saved_tensor(node, name).checked(as_it_is=node.user_code)
    for name in node.spent:
        value = getattr(node, name)
        if isinstance(value, Freed):
            raise FreedAccess(value)


def saved_tensor(node: Node, slot: str) -> SavedTensor:
    """What ``node`` saved in ``slot``."""
    return next(s for s in saved_slots(node) if s.slot == slot)


@dataclass(frozen=True)
class Refusal:
    """A saved tensor that cannot be unpacked as things stand."""

    node: Node
    slot: str
    """Empty for a node that was freed as a whole."""
    freed: Freed | None
    """Who freed it; ``None`` when it was modified."""

    def error(self) -> Exception:
        """The error that unpacking it raises; instruments are told."""
        if self.freed is not None:
            return errors.backward_twice(self.node, self.freed)
        storage = _storage_of(self.node, self.slot)
        assert storage is not None
        return errors.inplace_modified(self.node, self.slot, storage)


def first_refusal(nodes: list[Node]) -> Refusal | None:
    """The first of ``nodes``, in their order, that has been freed or whose saved tensor was modified since."""
    known = _checks
    for node in nodes:
        checks = known.get(type(node))
        if checks is None:
            checks = known[type(node)] = _checks_of(type(node))
        for saved, version, is_output in checks:
            value = getattr(node, saved)
            if value is None:
                continue
            if type(value) is Freed:
                return Refusal(node, saved[2:], value)
            if not version:  # a number
                continue
            storage = node.o_storage if is_output else value._storage
            if isinstance(storage, Packed):
                storage = storage.real_storage if storage.certain else None
            if storage is None or isinstance(storage, InferenceStorage):  # which has no version
                continue
            if not storage.version == getattr(node, version):  # noqa: SIM201 - see saved.detached
                return Refusal(node, saved[2:], None)
        if node.op_name == "CopySlices":
            found = first_refusal([node.inner])
            if found is not None or node.freed is not None:
                return found or Refusal(node, "", node.freed)
    return None


_checks: dict[type[Node], tuple[tuple[str, str, bool], ...]] = {}
"""For every class the names of what a slot holds and of its version, and whether it holds a result."""


def _checks_of(cls: type[Node]) -> tuple[tuple[str, str, bool], ...]:
    tensors = [("s_" + n, "v_" + n, is_output) for n, is_output in zip(cls.slots, cls.outputs_saved, strict=True)]
    return (*tensors, *((name, "", False) for name in cls.spent))


def _storage_of(node: Node, slot: str) -> Storage | None:
    """Where a slot that is neither empty nor freed has its memory, if anything else can share it."""
    held = getattr(node, "s_" + slot)
    if node.outputs_saved[node.slots.index(slot)] and not isinstance(held, Packed) and not node.user_code:
        found: Storage | Packed | None = node.o_storage
    else:
        found = held._storage
    return found.real_storage if isinstance(found, Packed) else found
