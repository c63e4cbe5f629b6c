"""The memory layout of gradients: that of the leaf where it is dense, else row by row."""

from __future__ import annotations

from typing import Any


def follows(g: Any, leaf: Any) -> bool:
    """Whether buffer ``g`` is laid out as a gradient of the buffer ``leaf``, of the same shape, is to be."""
    if not dense(leaf):
        return bool(g.flags.c_contiguous)
    return all(
        a * leaf.itemsize == b * g.itemsize
        for n, a, b in zip(leaf.shape, g.strides, leaf.strides, strict=True)
        if n > 1
    )


def copied(g: Any, leaf: Any) -> Any:
    """A copy of ``g``, a buffer of its own, laid out as a gradient of ``leaf``."""
    if leaf.flags.c_contiguous or not dense(leaf):
        return g.copy()
    axes = sorted(range(leaf.ndim), key=lambda i: -leaf.strides[i])  # the order in which they lie in memory
    return g.transpose(axes).copy().transpose(sorted(range(leaf.ndim), key=axes.__getitem__))


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
