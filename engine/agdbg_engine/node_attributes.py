"""Attributes of nodes that can be read and not written: descriptors on the classes, so that making a node costs nothing more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from .node import Node


NUMBERS_AS_TENSORS = frozenset(("MulBackward0", "DivBackward0"))
"""Nodes whose op makes tensors of numbers in PyTorch."""


class ReadOnly:
    """What ``read`` gives for a node, under ``name``; writing to it is refused in PyTorch's words."""

    __slots__ = ("_name", "_read")

    def __init__(self, name: str, read: Callable[[Any], Any]) -> None:
        self._name = name
        self._read = read

    def __get__(self, node: Any, cls: Any = None) -> Any:
        return self if node is None else self._read(node)

    def __set__(self, node: Node, value: Any) -> NoReturn:
        raise AttributeError(f"attribute '{self._name}' of '{node.op_name}' objects is not writable")

    def __delete__(self, node: Node) -> NoReturn:
        self.__set__(node, None)


def stored(name: str, slot: str) -> Any:
    """``name``, which a node keeps in ``slot``."""
    return ReadOnly(name, attrgetter(slot))


_saved: dict[str, tuple[ReadOnly, ReadOnly]] = {}


def _of_saved(name: str) -> tuple[ReadOnly, ReadOnly]:
    """``_saved_<name>`` and ``_raw_saved_<name>``; what a node does not have is an :class:`AttributeError`, as without them."""

    def unpacked(node: Node) -> Any:
        from .saved.names import saved_attribute

        return saved_attribute(node, name)

    def raw(node: Node) -> Any:
        from .saved.raw import raw_attribute

        return raw_attribute(node, name)

    return ReadOnly(f"_saved_{name}", unpacked), ReadOnly(f"_raw_saved_{name}", raw)


def _names(cls: type[Node]) -> Iterator[str]:
    """PyTorch's names of what nodes of ``cls`` save: their tensors, and most of the numbers (:mod:`.saved.names` has them all)."""
    yield from cls.slots
    if cls.op_name in NUMBERS_AS_TENSORS:
        yield from ("self", "other")
    for name in cls.consts:
        if not name.endswith("_dtype"):
            yield name.removesuffix("_shape") + "_sym_sizes" if name.endswith("_shape") else name


def show_saved(cls: type[Node]) -> None:
    """Give ``cls`` what its nodes saved as attributes that cannot be written."""
    for name in _names(cls):
        made = _saved.get(name)
        if made is None:
            made = _saved[name] = _of_saved(name)
        shown, raw = made
        setattr(cls, f"_saved_{name}", shown)
        if name in cls.slots or cls.op_name in NUMBERS_AS_TENSORS:
            setattr(cls, f"_raw_saved_{name}", raw)
