"""The saved tensors of a node at a stop, as expressions see them."""

from collections.abc import Callable, Sequence
from typing import Any, overload

from agdbg_engine.journal import slots_of
from agdbg_engine.node import Node
from agdbg_engine.saved import Packed


def unpack_hooks(node: Node) -> list[tuple[str, Any]]:
    """The slots of what ``node`` saved that hooks of the program keep, each with the function that gives the tensor back."""
    kept = [(slot, value) for _, slot, value in slots_of(node) if isinstance(value, Packed) and value.calls_user]
    return [(slot.removeprefix("s_"), getattr(value, "unpack_hook", None)) for slot, value in kept]


class SavedValues(Sequence[Any]):
    """``saved[0]``, ``saved["self"]`` or ``saved.self``: copies of what a node saved, made when asked for.

    ``None`` stands for what is not there: not saved, freed, or kept by hooks of the program.
    """

    def __init__(self, node: Node, value_of: Callable[[str], Any]) -> None:
        self._slots, self._value_of = node.slots, value_of

    def __len__(self) -> int:
        return len(self._slots)

    @overload
    def __getitem__(self, which: int | str) -> Any: ...
    @overload
    def __getitem__(self, which: slice) -> list[Any]: ...
    def __getitem__(self, which: int | str | slice) -> Any:
        if isinstance(which, slice):
            return [self._value_of(slot) for slot in self._slots[which]]
        return self._value_of(slot_named(self._slots, which))

    def __getattr__(self, name: str) -> Any:
        if name not in self._slots:
            raise AttributeError(_unknown(self._slots, name))
        return self._value_of(name)

    def __repr__(self) -> str:
        return f"saved tensors: {', '.join(self._slots) or 'none'}"


def slot_named(slots: Sequence[str], which: int | str) -> str:
    """The slot with a number or a name; raises :class:`IndexError` or :class:`KeyError`, which name those that there are."""
    if isinstance(which, int):
        if not -len(slots) <= which < len(slots):
            raise IndexError(_unknown(slots, which))
        return slots[which]
    if which not in slots:
        raise KeyError(_unknown(slots, which))
    return which


def _unknown(slots: Sequence[str], which: int | str) -> str:
    there = ", ".join(f"{number} {name}" for number, name in enumerate(slots)) or "none"
    return f"there is no saved tensor {which!r}; there are: {there}"
