"""Attributes of nodes that can be read and not written: descriptors on the classes, so that making a node costs nothing more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

from .missing import PRIVATE, missing_attribute

if TYPE_CHECKING:
    from .node import Node


NUMBERS_AS_TENSORS = frozenset(("MulBackward0", "DivBackward0"))
"""Nodes whose op makes tensors of numbers in PyTorch."""

RENAMED = {("MulBackward1", "number"): "other"}
"""Numbers that a node keeps under a name of its own, with PyTorch's."""

FACTORS = {
    "AddBackward0": ("alpha",),
    "SubBackward0": ("alpha",),
    "RsubBackward0": ("alpha",),
    "RsubBackward1": ("alpha",),
    "AddmmBackward0": ("alpha", "beta"),
}
"""Factors of an op that are 1 in the node here, unless it keeps another one."""


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


def _refused(name: str) -> ReadOnly:
    def read(node: Node) -> NoReturn:
        raise missing_attribute(f"'{node.op_name}' object", name)

    return ReadOnly(name, read)


REFUSED = {name: _refused(name) for name in PRIVATE}
"""What objects of PyTorch have and nodes have not, for a reason that the error tells."""


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
    """PyTorch's names of what nodes of ``cls`` may show: a node may still have nothing to show under one of them."""
    yield from cls.slots
    if cls.op_name in NUMBERS_AS_TENSORS:
        yield from ("self", "other")
    for name in cls.consts:
        if name.endswith("_shape"):
            yield name.removesuffix("_shape") + "_sym_sizes"
            if cls.op_name.startswith("Mean"):
                yield name.removesuffix("_shape") + "_sym_numel"
        elif not name.endswith("_dtype"):
            yield RENAMED.get((cls.op_name, name), name)
    yield from FACTORS.get(cls.op_name, ())
    yield from _worked_out.get(cls.op_name, ())


def show_saved(cls: type[Node]) -> None:
    """Give ``cls`` what its nodes saved as attributes that cannot be written."""
    for name in _names(cls):
        made = _saved.get(name)
        if made is None:
            made = _saved[name] = _of_saved(name)
        shown, raw = made
        setattr(cls, f"_saved_{name}", shown)
        if name in cls.slots or cls.op_name in NUMBERS_AS_TENSORS or name in _tensors:
            setattr(cls, f"_raw_saved_{name}", raw)
    if "op_name" in vars(cls) and not cls.user_code:  # no mere base: the names on a context are the user's
        for name, refusal in REFUSED.items():
            setattr(cls, name, refusal)


_worked_out: Mapping[str, Collection[str]] = {}
_tensors: Collection[str] = ()


def show_worked_out(base: type[Node], names: Mapping[str, Collection[str]], tensors: Collection[str]) -> None:
    """Let nodes show the ``names``, by the name of the node, too: those of every class below ``base``, also of classes to come.

    Values called as in ``tensors`` have a ``_raw_saved_`` as well.
    """
    global _worked_out, _tensors
    _worked_out, _tensors = names, tensors
    for cls in base.__subclasses__():
        show_saved(cls)
        show_worked_out(cls, names, tensors)
