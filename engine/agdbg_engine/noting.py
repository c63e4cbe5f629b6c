"""What a node is about to change, noted at little cost: for the nodes that have nothing special about them.

Such a node has one or two producers, no hooks, one output and no code of the user. It takes what waits for it, adds to what
waits at its producers, and frees what it saved. A :class:`Note` holds these as they were, and becomes an entry of a journal
when somebody wants to go back or to look.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .backward import BackwardPass
from .node import Node
from .tensor import Tensor
from .view import CopySlices

ndarray = np.ndarray
Waiting = tuple[Any, bool, bool]
"""A gradient that waits at a producer, and whether it was shared and summed."""


class Note(NamedTuple):
    """One run.

    Attributes:
        node: which ran.
        g: what came in.
        held: its producers, the same one twice if there is one, and what it had in its slots.
        first, second: what waited at the producers; ``None`` for nothing.
    """

    node: Node
    g: Any
    held: tuple[Any, ...]
    first: Waiting | None
    second: Waiting | None

    def slots(self) -> Iterator[tuple[Node, str, Any]]:
        """The slots, their names and what was in them."""
        for name, value in zip(_names_of(type(self.node)), self.held[2:], strict=True):
            yield self.node, name, value

    def waiting(self) -> Iterator[tuple[Any, Waiting | None]]:
        """The producers, and what waited there."""
        for key, waiting in zip(self.held[:2], (self.first, self.second), strict=True):
            if key is not None:
                yield key, waiting

    def size(self) -> int:
        """The bytes of the buffers in it."""
        size = getattr(self.g, "nbytes", 0)
        for value in self.held[2:]:
            size += getattr(value._a if isinstance(value, Tensor) else value, "nbytes", 0)
        for waiting in (self.first, self.second if self.second is not self.first else None):
            if waiting is not None:
                size += getattr(waiting[0], "nbytes", 0)
        return int(size)


Read = Callable[[Node], tuple[Any, ...]]
_readers: dict[type[Node], Read | None] = {}


def reader(cls: type[Node]) -> Read | None:
    """What reads :attr:`Note.held` off a node of ``cls``; ``None`` where a note would not do."""
    try:
        return _readers[cls]
    except KeyError:
        plain = cls.arity in (1, 2) and not (cls.leaf or cls.multi or cls.user_code or issubclass(cls, CopySlices))
        ends = ("n0", "n1") if cls.arity == 2 else ("n0", "n0")
        read = _readers[cls] = operator.attrgetter(*ends, *_names_of(cls)) if plain else None
        return read


def _names_of(cls: type[Node]) -> list[str]:
    output = ["o_storage"] if any(cls.outputs_saved) else []
    return [*("s_" + name for name in cls.slots), *cls.spent, *output]


def runner(
    bp: BackwardPass,
    note: Callable[[Note], object],
    note_other: Callable[[Node], object],
    before: Callable[[Node], object],
) -> Callable[[Node], None]:
    """``run_node`` for ``bp`` that calls ``before``, then ``note`` with the note of the node, or else ``note_other``."""
    buffers, shared, summed, freed = bp.buffers, bp.shared, bp.summed, bp.freed
    pop, peek = buffers.pop, buffers.get
    readers, run, plain = _readers, bp.run_node, bp.is_plain()
    position, new = bp.position, tuple.__new__  # a named tuple's own takes twice as long

    def run_node(node: Node) -> None:
        nonlocal position
        bp.position = position
        before(node)
        position += 1
        read = None
        if plain and node.hooks is None and node.nrs is None:
            cls = type(node)
            read = readers[cls] if cls in readers else reader(cls)
        g = None if read is None else peek(node)
        if read is None or g is None:
            note_other(node)
            run(node)
            return
        held = read(node)
        first = second = None
        n0, n1 = held[0], held[1]
        if n0 in buffers:
            first = _waiting(n0, buffers, shared, summed)
        if n1 in buffers:
            second = first if n1 is n0 else _waiting(n1, buffers, shared, summed)
        came = g.copy() if node in summed and type(g) is ndarray else g
        note(new(Note, (node, came, held, first, second)))
        pop(node)
        node.run(g, buffers, shared, summed, freed)

    return run_node


def unnoted(bp: BackwardPass, before: Callable[[Node], object]) -> Callable[[Node], None]:
    """``run_node`` for ``bp`` that calls ``before`` of each node, when :attr:`BackwardPass.position` says where the pass is."""
    position, run = bp.position, bp.run_node

    def run_node(node: Node) -> None:
        nonlocal position
        bp.position = position
        before(node)
        position += 1
        run(node)

    return run_node


def _waiting(key: Any, buffers: dict[Any, Any], shared: set[Any], summed: set[Any]) -> Waiting:
    value, is_summed = buffers[key], key in summed
    if is_summed and type(value) is ndarray:  # more is added in place
        value = value.copy()
    return value, key in shared, is_summed
