"""Writes into memory that overlaps itself, as what ``unfold()`` and ``as_strided()`` make can: element after element.

There one place of memory is several elements, and what is written to one of them is read at the next. PyTorch refuses such
memory only where it is expanded (a step of 0), and otherwise computes in the order of its loops: from the widest step in
memory to the narrowest. The same values come out here, in as many rounds as the place that shows most often has elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import events
from ..grad_mode import quiet_no_grad
from ..region import surely_repeats
from ..storage import Storage
from ..tangents import levels_of, tangents_of
from ..tensor import Tensor, overlap, repeats, wrap

_BY_OTHER_LOOPS = frozenset((
    "addbmm_", "addmm_", "addmv_", "addr_", "baddbmm_", "cumprod_", "cumsum_", "index_add_", "index_copy_", "index_reduce_",
    "masked_scatter_", "put_", "renorm_", "scatter_", "scatter_add_", "scatter_reduce_",
))  # fmt: skip
"""In-place ops that do not go through their elements one by one: what they leave in such memory depends on their loops."""

_CONSTANT = frozenset(("fill_", "zero_"))
"""Ops that write the same to all elements, so that it does not matter which of them is meant."""

_TANGENT_ALIKE = frozenset(("fill_", "zero_", "copy_"))
"""Ops that do the same to a tangent as to what it is a tangent of."""


def overlaps_itself(a: Any) -> bool:
    """Whether a NumPy buffer shows one place of memory as several elements though no step of it is 0."""
    if not isinstance(a, np.ndarray) or a.flags.c_contiguous or a.flags.f_contiguous:
        return False
    return surely_repeats(a) and not repeats(a)


def check_overlapping(t: Tensor, name: str, args: Sequence[Any]) -> None:
    """Refuse ``t.name(*args)``, where ``t`` overlaps itself, if its values or its tangents would depend on loops."""
    if name in _BY_OTHER_LOOPS:
        raise refusal()
    if events.special & events.FORWARD:
        levels = levels_of((t, *args))
        if levels and (name not in _TANGENT_ALIKE or any(level not in tangents_of(t) for level in levels)):
            raise refusal()


def check_unrecorded(name: str, result: Tensor, args: Sequence[Any]) -> None:
    """Refuse to record the write of ``result``: formulas of gradients know nothing of elements that share memory."""
    if result._fn is not None and (name not in _CONSTANT or any(isinstance(x, Tensor) and x._rg for x in args)):
        raise refusal()


def refusal() -> Exception:
    """The error of a write into memory that overlaps itself."""
    return overlap("more than one element of the written-to tensor refers")


def write_rounds(a: Any, result: Any, function: Callable[..., Tensor], args: Sequence[Any]) -> None:
    """Write ``function(t, *args)``, whose ``result`` is that of ``t`` as it was, into ``a``, the buffer of ``t``."""
    rounds = _rounds(a, [x._a for x in args if isinstance(x, Tensor)])
    a[rounds == 0] = result[rounds == 0]
    for n in range(1, int(rounds.max(initial=0)) + 1):
        twin = wrap(a)
        twin._storage = Storage()
        with quiet_no_grad():
            again = function(twin, *args)._a
        a[rounds == n] = again[rounds == n]


def write_last(a: Any, result: Any, operands: Sequence[Any]) -> None:
    """Write ``result`` into ``a``: of elements that share memory the last one stays."""
    rounds = _rounds(a, operands)
    for n in range(int(rounds.max(initial=-1)) + 1):
        a[rounds == n] = result[rounds == n]


def _rounds(a: Any, operands: Sequence[Any]) -> Any:
    """For every element of ``a``, how many of those that share its memory PyTorch's loops come to before."""
    places = np.zeros((), np.int64)
    for n, step in zip(a.shape, a.strides, strict=True):
        places = places[..., None] + np.arange(n) * step
    order = _order(a, operands)
    in_order = places.transpose(order).reshape(-1)
    by_place = np.argsort(in_order, kind="stable")
    starts = np.flatnonzero(np.diff(in_order[by_place], prepend=-1))
    lengths = np.diff(starts, append=in_order.size)
    found = np.empty(in_order.size, np.int64)
    found[by_place] = np.arange(in_order.size) - np.repeat(starts, lengths)
    return found.reshape([a.shape[d] for d in order]).transpose(np.argsort(order))


def _order(a: Any, operands: Sequence[Any]) -> list[int]:
    """The dimensions of ``a`` from the outermost loop to the innermost, as PyTorch nests them.

    Narrow steps go inside, those of ``a`` before those of its operands; of equal ones the shorter dimension.
    """
    steps = [a.strides, *(_broadcast(x, a.shape) for x in operands)]
    inside_out = list(range(a.ndim))[::-1]
    for i in range(1, a.ndim):
        at = i
        for j in range(i - 1, -1, -1):
            swap = _compare(inside_out[j], inside_out[at], steps, a.shape)
            if swap > 0:
                inside_out[j], inside_out[at] = inside_out[at], inside_out[j]
                at = j
            elif swap < 0:
                break
    return inside_out[::-1]


def _compare(inner: int, outer: int, steps: Sequence[Sequence[int]], shape: Sequence[int]) -> int:
    """1 if dimension ``inner`` belongs outside of ``outer``, -1 if it is well inside, 0 if there is nothing to tell."""
    for step in steps:
        x, y = step[inner], step[outer]
        if x == 0 or y == 0:
            continue
        if x != y:
            return 1 if x > y else -1
        if shape[inner] > shape[outer]:
            return 1
    return 0


def _broadcast(x: Any, shape: Sequence[int]) -> Sequence[int]:
    """The steps of operand ``x`` along the dimensions of ``shape``; none that count where it has another."""
    if not isinstance(x, np.ndarray) or len(x.shape) > len(shape):
        return (0,) * len(shape)
    lead = len(shape) - x.ndim
    return (*(0,) * lead, *(s if n > 1 else 0 for n, s in zip(x.shape, x.strides, strict=True)))
