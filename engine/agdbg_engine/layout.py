"""The memory layout of gradients: that of the leaf where it is dense, else row by row."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from . import errors
from .device import array_module
from .grad_mode import mode
from .sites import user_stacklevel


def follows(g: Any, leaf: Any) -> bool:
    """Whether buffer ``g`` is laid out as a gradient of the buffer ``leaf`` is to be."""
    if g.shape != leaf.shape:
        return False
    if not leaf.size:  # NumPy gives results without elements any strides
        return True
    if not dense(leaf):
        return bool(g.flags.c_contiguous)
    return all(
        a * leaf.itemsize == b * g.itemsize
        for n, a, b in zip(leaf.shape, g.strides, leaf.strides, strict=True)
        if n > 1
    )


_told: set[bool] = set()


def tell(g: Any, leaf: Any, recorded: bool) -> None:
    """Warn, once for recorded additions and once for others, if buffer ``g``, a sum of gradients, is not laid out as
    one of the buffer ``leaf`` is to be."""
    if recorded in _told or follows(g, leaf):
        return
    _told.add(recorded)
    shapes = "\n".join(
        f"{name}.sizes() = {list(a.shape)}, strides() = {[s // a.itemsize for s in a.strides]}"
        for name, a in (("grad", g), ("param", leaf))
    )
    warnings.warn(
        "grad and param do not obey the gradient layout contract. This is not an error, but may impair performance.\n"
        + shapes,
        UserWarning,
        stacklevel=user_stacklevel(),
    )


def may_stay(g: Any, leaf: Any) -> bool:
    """Whether buffer ``g``, which nobody else holds, can be the gradient of the buffer ``leaf`` as it is."""
    if mode.grad_layout:
        return follows(g, leaf)
    return bool(g.shape == leaf.shape and dense(g))


def copied(g: Any, leaf: Any) -> Any:
    """A copy of ``g``, a buffer of its own, laid out as a gradient of ``leaf``; raises where it cannot be broadcast to that.

    The two differ in shape only where the leaf was given other ``data`` since: then ``g`` is fitted as PyTorch copies it.
    """
    if g.shape != leaf.shape:
        g = _broadcast(g, leaf)
    if leaf.flags.c_contiguous or not dense(leaf):
        return g.copy()
    axes, back = as_they_lie(leaf)
    return g.transpose(axes).copy().transpose(back)


def _broadcast(g: Any, leaf: Any) -> Any:
    """``g`` in the shape of ``leaf``, as PyTorch copies one tensor into another."""
    have, want = list(g.shape), list(leaf.shape)
    for back in range(1, 1 + min(len(have), len(want))):
        if have[-back] not in (1, want[-back]):
            at = len(want) - back
            raise errors.make(
                RuntimeError,
                errors.Details("shape"),
                f"The size of tensor a ({want[-back]}) must match the size of tensor b ({have[-back]}) at non-singleton "
                f"dimension {at}",
                "the leaf was given data of another shape after the graph was recorded",
            )
    if len(have) > len(want):
        raise errors.make(
            RuntimeError,
            errors.Details("shape"),
            f"output with shape {want} doesn't match the broadcast shape {have}",
            "the leaf was given data of another shape after the graph was recorded",
        )
    return array_module(g).broadcast_to(g, leaf.shape)


def as_they_lie(a: Any) -> tuple[list[int], list[int]]:
    """The dimensions of ``a`` in the order in which they lie in memory, and what brings that order back to theirs.

    One that repeats its memory stays where it is among the others: the order is that of PyTorch's ``infer_dense_strides``.
    """
    order = list(range(a.ndim))[::-1]  # from the inside to the outside
    for start in range(1, a.ndim):
        at = start
        for other in reversed(range(start)):
            inner, outer = (a.strides[order[i]] for i in (other, at))
            if not inner or not outer:
                continue
            if inner < outer or (inner == outer and a.shape[order[other]] <= a.shape[order[at]]):
                if inner < outer:
                    break
                continue
            order[other], order[at] = order[at], order[other]
            at = other
    axes = order[::-1]
    return axes, sorted(range(a.ndim), key=axes.__getitem__)


def steps(a: Any) -> list[int]:
    """The strides of ``a`` in bytes; where NumPy writes 0 for a dimension of size 1 that was added, what PyTorch writes."""
    return steps_of(a.shape, a.strides, a.itemsize)


def steps_of(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> list[int]:
    """:func:`steps` of a buffer that has these."""
    found = list(strides)
    beyond = itemsize
    for d in range(len(shape) - 1, -1, -1):
        if found[d] == 0 and shape[d] == 1:
            found[d] = beyond
        beyond = found[d] * shape[d]
    return found


def dense(a: Any) -> bool:
    """Whether the elements of ``a`` fill a block of memory, each place once, in whichever order of the dimensions."""
    if a.flags.c_contiguous or a.flags.f_contiguous:
        return True
    expected = a.itemsize
    for stride, n in sorted((s, n) for s, n in zip(a.strides, a.shape, strict=True) if n != 1):
        if stride != expected:
            return False
        expected *= n
    return True
