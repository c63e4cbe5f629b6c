"""``node._raw_saved_<name>``: one saved tensor as an object, on which hooks can be set after the op ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import errors, events
from ..node import Node, edge
from ..saved import Freed, Packed, saved_tensor, share_result
from ..sites import caller
from ..storage import Storage
from ..tensor import Tensor, wrap
from . import fit
from .hooks import Hooked, Pair, held_tangents, plain
from .names import saved_attribute, slotless

_TWICE = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is "
    "allowed at a time."
)
_FREED = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed when you "
    "call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if "
    "you need to access saved variables after calling backward."
)
_NONE = "Calling register_hooks on a saved tensor with value None is forbidden"
_NO_SLOT = "register_hooks: the node keeps this value, but not as a tensor, so that no hook can pack it"
_UNFIT = "register_hooks(): incompatible function arguments. The following argument types are supported:"


_FORBIDDEN = "Trying to create a SavedTensor object from Python is forbidden."


def _pair(hooks: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Any]:
    """The two ``hooks``: PyTorch gives them no names."""
    if len(hooks) == 2 and not named and callable(hooks[0]) and callable(hooks[1]):
        return hooks[0], hooks[1]
    raise TypeError(f"{_UNFIT}\n  register_hooks(pack_hook, unpack_hook), two functions")


def _forget(t: Tensor) -> None:
    """Keep nothing of ``t``."""


class SavedTensor:
    """What a slot of a node holds, an object that only ``node._raw_saved_<name>`` gives."""

    __slots__ = ("_node", "_slot")
    _node: Node
    _slot: str

    def __init__(self) -> None:
        raise RuntimeError(_FORBIDDEN)

    @classmethod
    def of(cls, node: Node, slot: str) -> SavedTensor:
        """That of ``slot`` of ``node``, which has one of that name."""
        made = object.__new__(cls)
        made._node, made._slot = node, slot
        return made

    @property
    def _held(self) -> Any:
        return getattr(self._node, "s_" + self._slot)

    @property
    def _is_output(self) -> bool:
        return self._node.outputs_saved[self._node.slots.index(self._slot)]

    @property
    def data(self) -> Any:
        """What is kept: what the pack hook returned, else the tensor; ``None`` when there is nothing (any more)."""
        held = self._held
        if held is None or isinstance(held, Freed):
            return None
        if isinstance(held, Hooked):
            return held.given(self._node)
        seen = held.seen() if isinstance(held, Packed) else held
        return seen if isinstance(seen, Tensor | Packed) else self._result(seen)

    @property
    def unpack_hook(self) -> Callable[[Any], Tensor] | None:
        """The unpack hook, if there is one."""
        held = self._held
        return held.unpack_hook if isinstance(held, Hooked) else None

    def unpack(self) -> Tensor | None:
        """The saved tensor, checked; ``None`` if none was saved."""
        return None if self._held is None else saved_tensor(self._node, self._slot).unpack()

    def register_hooks(self, *hooks: Callable[[Any], Any], **named: Any) -> None:
        """Let the slot keep what the first of two ``hooks`` makes of what it keeps now, and give what the second makes of that.

        Raises :class:`TypeError` for what is not two functions, by place; :class:`RuntimeError` when it has hooks, was freed
        or is empty.
        """
        pack_hook, unpack_hook = _pair(hooks, named)
        held = self._held
        if isinstance(held, Hooked):
            raise RuntimeError(_TWICE)
        if isinstance(held, Freed):
            raise errors.make(
                RuntimeError, errors.Details("backward-twice", self._node, self._node.slots.index(self._slot)), _FREED
            )
        if held is None:
            raise RuntimeError(_NONE)
        returned: list[Any] = []

        def noting(t: Tensor) -> Any:
            returned.append(pack_hook(t))
            return returned[0]

        try:
            self._pack(Pair(noting, unpack_hook), held)
        except Exception:  # they count as set all the same, as in PyTorch
            if returned:  # it wrote to the tensor: what it returned is kept
                self._pack(Pair(lambda _: returned[0], unpack_hook), held)
            else:  # nothing is there to unpack
                self._pack(Pair(_forget, lambda nothing: unpack_hook()), held)  # raises, most likely
            raise

    def _pack(self, pair: Pair, held: Any) -> None:
        node, slot = self._node, self._slot
        seen = held.seen() if isinstance(held, Packed) else held
        if self._is_output or (isinstance(held, Packed) and held.is_output):
            made = Hooked(pair, *self._output(seen, getattr(held, "_nr", 0)))
            if self._is_output and not node.user_code:  # else it may save several
                node.o_storage = made  # type: ignore[attr-defined]  # nodes that save a result have it
        else:
            made = Hooked(pair, plain(seen), edge(seen), seen._nr, False, seen._shared_storage())
        made.tangents = (
            held.tangents if isinstance(held, Packed) else held_tangents(held) if isinstance(held, Tensor) else None
        )
        if isinstance(held, Packed) and not made.independent:
            made.hold = getattr(held, "hold", None)
        setattr(node, "s_" + slot, made)
        fit.mark(node)
        if events.sink is not None:
            events.sink.saved_packed(node, node.slots.index(slot), *caller())

    def _output(self, buffer: Any, nr: int) -> tuple[Tensor, None, int, bool, Storage | None]:
        """A saved output as the pack hook gets it, and how to restore it."""
        shown = self._result(buffer)
        return shown, None, nr, True, shown._storage

    def _result(self, buffer: Any) -> Tensor:
        """A saved output, which is kept as a buffer: a tensor on the same storage, without the history."""
        share_result(self._node, self._slot, buffer)
        shown = wrap(buffer)
        shown._storage = saved_tensor(self._node, self._slot).storage
        return shown


class Slotless(SavedTensor):
    """What PyTorch keeps as a tensor and the engine does not: it can be looked at, but takes no hooks."""

    __slots__ = ("value",)
    value: Any

    @classmethod
    def holding(cls, node: Node, slot: str, value: Any) -> Slotless:
        """That of ``value``; the class :class:`Freed` when it has been freed."""
        made = object.__new__(cls)
        made._node, made._slot, made.value = node, slot, value
        return made

    @property
    def data(self) -> Any:
        """The tensor; ``None`` when there is nothing (any more)."""
        return None if self.value is Freed else self.value

    @property
    def unpack_hook(self) -> None:
        """None: there are no hooks."""
        return

    def unpack(self) -> Any:
        """The tensor; ``None`` if none was saved."""
        return saved_attribute(self._node, self._slot) if self.value is Freed else self.value

    def register_hooks(self, *hooks: Callable[[Any], Any], **named: Any) -> None:
        """Raise :class:`RuntimeError`, in PyTorch's words where it would as well."""
        _pair(hooks, named)
        if self.value is Freed:
            raise RuntimeError(_FREED)
        raise RuntimeError(_NONE if self.value is None else _NO_SLOT)


def raw_attribute(node: Node, name: str) -> SavedTensor | tuple[SavedTensor, ...]:
    """``node._raw_saved_<name>``, several for indices; raises :class:`AttributeError` where nothing has that name."""
    if name in node.slots:
        return SavedTensor.of(node, name)
    if not slotless(node, name):
        raise AttributeError(f"'{node.op_name}' object has no attribute '_raw_saved_{name}'")
    if name == "indices":
        return tuple(Slotless.holding(node, name, i) for i in saved_attribute(node, name))
    try:
        value = saved_attribute(node, name)
    except RuntimeError:
        value = Freed
    return Slotless.holding(node, name, value)
