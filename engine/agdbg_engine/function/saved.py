"""What the node of a custom Function saves: any number of tensors, in slots that are made as they are needed.

Every node has its own number of slots, so they are kept in lists; inspectors find them under the names of slots all the same
(``node.slots``, ``s_<name>``, ``v_<name>``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import errors
from ..grad_mode import mode
from ..meta import AutogradMeta
from ..node import Node
from ..saved import Packed
from ..saved.hooks import kept
from ..tensor import Tensor, wrap
from .ctx import put

if TYPE_CHECKING:
    from .node import BackwardCFunction

_names: list[tuple[str, ...]] = [()]


def names(count: int) -> tuple[str, ...]:
    """The names of ``count`` slots: how the user would write them."""
    while len(_names) <= count:
        known = len(_names)
        _names.append(tuple(f"saved_tensors[{i}]" for i in range(known)))
    return _names[count]


class PerNode:
    """An attribute that differs from node to node, though for ordinary nodes it is one of their class: empty for the class."""

    def __init__(self, of: Callable[[Any], tuple[Any, ...]]) -> None:
        self._of = of

    def __get__(self, node: Any, owner: type) -> tuple[Any, ...]:
        return () if node is None else self._of(node)


class Slots:
    """Has the attributes ``s_<name>`` and ``v_<name>`` for the saved tensors of nodes, as many as any node has needed yet."""

    __slots__ = ()


class Saved:
    """Entry ``i`` of a list of the node, as an attribute."""

    def __init__(self, which: str, i: int) -> None:
        self._which = which
        self._i = i

    def __get__(self, node: Any, owner: type) -> Any:
        return self if node is None else getattr(node, self._which)[self._i]

    def __set__(self, node: Any, value: Any) -> None:
        getattr(node, self._which)[self._i] = value


class SavedOutput(Packed):
    """A saved output of the node that saves it: its buffer alone, so that no cycle forms. It is made anew at unpack."""

    __slots__ = ("_nr", "_value", "hold", "tangents")

    def __init__(self, t: Tensor) -> None:
        self.real_storage = t._shared_storage()
        self.independent = False
        self.hold = None  # see strict.Locked
        self._nr = t._nr
        self._value = t._a
        self.tangents = None if t._meta is None else t._meta.tangents

    @property
    def array(self) -> Any:
        return self._value

    def seen(self) -> Any:
        return self._value

    def unpack(self, node: Node, slot: str) -> Tensor:
        t = wrap(self._value)
        t._storage, t._fn, t._nr, t._rg = self.real_storage, node, self._nr, True
        if self.tangents is not None:
            t._meta = AutogradMeta()
            t._meta.tangents = self.tangents
        return t


def to_save(node: BackwardCFunction, needed: bool) -> tuple[Any, ...]:
    """What ``save_for_backward`` was given, checked; nothing if that is not ``needed``."""
    wanted = node.to_save
    if wanted is None:
        return ()
    if not isinstance(wanted, tuple):
        raise _no_tuple("to_save", wanted)
    if not needed:
        return ()
    for i, t in enumerate(wanted):
        if t is not None and not isinstance(t, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {i} is of type {errors.class_name(t)}"
            )
    return wanted


def marked(node: BackwardCFunction, attribute: str, refusal: str) -> tuple[Tensor, ...]:
    """The tensors of a mark, checked; :class:`RuntimeError` with the text ``refusal`` for anything else."""
    found = getattr(node, attribute)
    if found is None:
        return ()
    if not isinstance(found, tuple):
        raise _no_tuple(attribute, found)
    for i, t in enumerate(found):
        if not isinstance(t, Tensor):
            raise errors.make(
                RuntimeError, errors.Details("other", node), refusal, f"argument {i} is of type {type(t).__name__}"
            )
    return found


def _no_tuple(attribute: str, value: Any) -> Exception:
    return errors.make(
        RuntimeError,
        errors.Details("other"),
        f"autograd internal error: {attribute} attribute is expected to be a tuple but is ",
        f"it is a {type(value).__name__}",
    )


def save(node: BackwardCFunction, tensors: Sequence[Tensor | None]) -> None:
    """Fill the slots of ``node``; its outputs have it as their ``grad_fn`` already."""
    if not tensors:
        return
    _have(len(tensors))
    own = tuple([t is not None and t._fn is node for t in tensors])
    put(node, "_kept", [SavedOutput(t) if mine and t is not None else t for t, mine in zip(tensors, own, strict=True)])
    put(node, "_versions", [0 if t is None or t._storage is None else t._storage.version for t in tensors])
    put(node, "_own", own)


def _have(count: int) -> None:
    """Let nodes have that many slots."""
    for i in range(count - 1, -1, -1):
        slot = names(count)[i]
        if hasattr(Slots, "s_" + slot):
            return
        setattr(Slots, "s_" + slot, Saved("_kept", i))
        setattr(Slots, "v_" + slot, Saved("_versions", i))


def keep_in_modes(node: BackwardCFunction, made: tuple[Any, ...]) -> None:
    """Pack or lock what ``node`` saved as this thread's modes want it, in the order of saving."""
    if not (mode.saved_hooks or mode.strict):
        return
    outputs = {t._nr: t for t in made if isinstance(t, Tensor) and t._fn is node}
    for i, (slot, value) in enumerate(zip(node.slots, node._kept, strict=True)):
        if isinstance(value, SavedOutput):
            made_now = kept(node, slot, outputs[value._nr], is_output=True)
            node._kept[i] = made_now if isinstance(made_now, Packed) else value
        elif value is not None:
            node._kept[i] = kept(node, slot, value, is_output=False)
