"""The short way through an interpreted op: plain floating tensors of one dtype and shape, one result, no rare mode.

It does what :func:`.interpret.apply` does, without the questions whose answer is known then. Whatever else comes in takes
the general way; no result depends on which way was taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy import ndarray

from ... import events
from ...grad_mode import mode
from ...node import edge, next_seq
from ...sites import caller
from ...tensor import Parameter, Tensor
from .node import Interpreted

if TYPE_CHECKING:
    from .interpret import Op

LONG = object()
"""Says that the general way must be taken."""

new = object.__new__
_PLAIN = (Tensor, Parameter)


def fits(op: Op) -> bool:
    """Whether there is a short way for calls of ``op`` at all."""
    row = op.row
    return (
        not op.several
        and not row.view
        and not row.moves
        and 0 < len(op.inputs) == len(op.places)
        and (row.elementwise or len(op.inputs) == 1)
    )


def short(op: Op, args: tuple[Any, ...]) -> Any:
    """The result, or :data:`LONG`."""
    if events.special:
        return LONG
    buffers = list(args)
    first: Any = None
    wanted: Any = False
    for i in op.inputs:
        x = args[i]
        if type(x) not in _PLAIN:
            return LONG
        a = buffers[i] = x._a
        if first is None:
            first = a
            if type(a) is not ndarray or a.dtype.kind != "f":
                return LONG
        elif a.dtype is not first.dtype or a.shape != first.shape:
            return LONG
        wanted = wanted or x._rg
    try:
        r = op.kernel(*buffers)
    except Exception:
        return LONG  # which says what is wrong
    if type(r) is not ndarray or r.base is not None or r.dtype is not first.dtype or any(r is b for b in buffers):
        return LONG
    out = new(Tensor)
    out._a = r
    out._fn = out._storage = out._gradient = out._meta = None
    out._nr = 0
    out._rg = False
    if wanted:
        if mode.grad:
            producers = tuple([edge(args[i]) if args[i]._rg else None for i in op.inputs])
            if producers == op.nothing:
                return LONG
            _record(op, args, producers, out)
        elif events.on:
            return LONG
    return out


def _record(op: Op, args: tuple[Any, ...], producers: tuple[Any, ...], out: Tensor) -> None:
    node: Any = new(op.plain)
    node.next = producers
    numbers = [args[i]._nr for i in op.inputs]
    node.nrs = tuple(numbers) if any(numbers) else None
    node.seq = next_seq()
    node.code, node.lasti = caller()
    node.hooks = node.o_storage = node.fit = None
    partly = None in producers
    for name, held, version, at in op.saves:
        number: Any = 0
        if partly and not needed(node, name):
            value = None
        elif at is None:
            value = out._a
        else:
            value = args[at]
            storage = value._storage
            if storage is not None:
                number = storage.version
        setattr(node, held, value)
        setattr(node, version, number)
    for held, operand, what in op.keeps:
        setattr(node, held, args[operand] if what is None else getattr(args[operand]._a, what))
    out._fn = node
    out._rg = True
    if events.sink is not None:
        events.births[op.plain](node, out)


def needed(node: Interpreted, name: str) -> bool:
    """Whether the gradient of an input that wants one reads ``name``."""
    return any(n is not None and name in f.names for n, f in zip(node.next, node.formulas, strict=True))
