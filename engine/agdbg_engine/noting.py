"""What a node is about to change, noted at little cost: for the nodes that have nothing special about them.

Such a node has one or two producers, no hooks, one output and no code of the user. It takes what waits for it, adds to what
waits at its producers, and frees what it saved. A note holds these as they were, and becomes an entry of a journal when
somebody wants to go back or to look. It is one flat tuple, since Python's garbage collector looks at every tuple that lives.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterator
from typing import Any

import numpy as np

from .backward import BackwardPass
from .node import Node
from .tensor import Tensor
from .view import CopySlices

ndarray = np.ndarray

Note = tuple[Any, ...]
"""One run: the node, what came in, what waited at its producers (``None`` for nothing), how those were marked, its producers (the
same one twice if there is one), and what it had in its slots."""

NODE, CAME_IN, FIRST, SECOND, MARKS, PRODUCERS, SLOTS = 0, 1, 2, 3, 4, 5, 7
"""Where in a note these are."""
_SHARED, _SUMMED = 1, 2
_OF_SECOND = 2
"""By how many bits the marks of what waited at the second producer are shifted."""

Waiting = tuple[Any, bool, bool]
"""A gradient that waits at a producer, and whether it was shared and summed."""


def slots_of_note(note: Note) -> Iterator[tuple[Node, str, Any]]:
    """The node, the names of its slots and what was in them."""
    node = note[NODE]
    for name, value in zip(_names_of(type(node)), note[SLOTS:], strict=True):
        yield node, name, value


def waiting_in(note: Note) -> Iterator[tuple[Any, Waiting | None]]:
    """The producers, and what waited there."""
    first, second = note[PRODUCERS:SLOTS]
    if first is not None:
        yield first, _marked(note[FIRST], note[MARKS])
    if second is not None and second is not first:
        yield second, _marked(note[SECOND], note[MARKS] >> _OF_SECOND)


def _marked(value: Any, marks: int) -> Waiting | None:
    return None if value is None else (value, bool(marks & _SHARED), bool(marks & _SUMMED))


def size_of(note: Note) -> int:
    """The bytes of the buffers in a note."""
    size = 0
    for value in note[CAME_IN:MARKS] + note[SLOTS:]:
        if type(value) is ndarray:
            size += value.nbytes
        elif value is not None:
            size += getattr(value._a if isinstance(value, Tensor) else value, "nbytes", 0)
    return size


Read = Callable[[Node], tuple[Any, ...]]
_readers: dict[type[Node], Read | None] = {}


def reader(cls: type[Node]) -> Read | None:
    """What reads the producers and the slots off a node of ``cls``; ``None`` where a note would not do."""
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
    much: int,
    told: Callable[[], object],
    where: Container[int] | None = None,
) -> Callable[[Node], None]:
    """``run_node`` for ``bp`` that calls ``before``, then ``note`` with the note of the node, or else ``note_other``; and ``told``
    whenever more than ``much`` bytes have come in at noted nodes. ``before`` is called at the positions ``where`` alone, if these
    are given.
    """
    buffers, shared, summed, freed = bp.buffers, bp.shared, bp.summed, bp.freed
    pop, readers, run, plain = buffers.pop, _readers, bp.run_node, bp.is_plain()
    position, bytes_in = bp.position, 0

    def run_node(node: Node) -> None:
        nonlocal position, bytes_in
        bp.position = position
        if where is None or position in where:
            before(node)
        position += 1
        if plain and node.hooks is None and node.nrs is None:
            try:
                read = readers[type(node)]
            except KeyError:
                read = reader(type(node))
            if read is not None and (g := pop(node, None)) is not None:
                held = read(node)
                first = second = None
                marks, n0, n1 = 0, held[0], held[1]
                if n0 in buffers:
                    first, marks = _waiting(n0, buffers, shared, summed)
                if n1 is not n0 and n1 in buffers:
                    second, more = _waiting(n1, buffers, shared, summed)
                    marks |= more << _OF_SECOND
                came = g.copy() if node in summed and type(g) is ndarray else g
                note((node, came, first, second, marks) + held)  # noqa: RUF005 - half the time of a display with a star
                bytes_in += g.nbytes
                if bytes_in > much:
                    bytes_in = 0
                    told()
                node.run(g, buffers, shared, summed, freed)
                return
        note_other(node)
        run(node)

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


def _waiting(key: Any, buffers: dict[Any, Any], shared: set[Any], summed: set[Any]) -> tuple[Any, int]:
    """What waits under ``key``, and its marks."""
    value = buffers[key]
    if key not in summed:
        return value, _SHARED if key in shared else 0
    if type(value) is ndarray:  # more is added in place
        value = value.copy()
    return value, _SUMMED | (_SHARED if key in shared else 0)
