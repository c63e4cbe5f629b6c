"""Tensors of nothing in a given layout, and tensors that are given another size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import events
from ....creation import leaf, shape_of
from ....device import array_module
from ....dtype import get_default_dtype
from ....inside import check_write as check_captured
from ....inside import everywhere
from ....pinned_memory import pinnable
from ....resizing import follow
from ....saved.strict import refuse
from ....scalars import written
from ....sites import caller
from ....storage import check_grows
from ....tangents import tangents_of
from ....tensor import Tensor, check_counted
from ...explain import shape_error
from ..declare import public
from .strides import memory_of, shown

Sizes = tuple[int, ...]


@public("torch")
@pinnable
def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A 0-d tensor of a number, in the default dtype."""
    kind = np.dtype(dtype or get_default_dtype())
    value = s.item() if isinstance(s, Tensor | np.generic) else s
    return leaf(np.array(written(value, kind), kind), device, requires_grad)


@public("torch")
@pinnable
def empty_strided(
    size: Any, stride: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Unspecified content in ``size``, elements ``stride`` apart in the dimensions."""
    return leaf(_laid_out(size, stride, np.dtype(dtype or get_default_dtype())), device, requires_grad)


@public("Tensor")
@pinnable
def new_empty_strided(
    self: Tensor, size: Any, stride: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """:func:`empty_strided` in the dtype of ``self``."""
    return leaf(_laid_out(size, stride, np.dtype(dtype or self.dtype)), device or self.device, requires_grad)


def _laid_out(size: Any, stride: Any, dtype: Any) -> Any:
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride):
        raise shape_error(f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})")
    if any(s < 0 for s in stride):
        raise shape_error(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    size = shape_of("empty_strided", (size,))
    n = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if math.prod(size) else 0
    bytes_ = np.empty(n, dtype).view(np.uint8)
    return shown(bytes_, dtype, 0, size, tuple(s * dtype.itemsize for s in stride))


@public("torch")
@pinnable
def empty_permuted(
    size: Any, physical_layout: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Unspecified content in ``size``; in memory the dimensions follow each other as ``physical_layout`` lists them."""
    sizes, order = shape_of("empty_permuted", (tuple(size),)), tuple(physical_layout)
    if len(sizes) != len(order):
        raise shape_error(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(sizes)} is not equal to len(physical_layout) = {len(order)}"
        )
    for i, d in enumerate(order):
        if not 0 <= d < len(sizes):
            raise shape_error(
                f"Dimension out of range (expected to be between 0 and {len(sizes) - 1}, but got {d} at index {i}).  NB: negative "
                "dims not currently supported; file an issue if you want it."
            )
    if len(set(order)) != len(order):
        raise shape_error("Duplicate dim not allowed")
    back = sorted(range(len(order)), key=order.__getitem__)
    array = np.empty([sizes[d] for d in order], dtype or get_default_dtype()).transpose(back)
    return leaf(array, device, requires_grad)


# ----- other sizes -----


@public("Tensor")
def resize_(self: Tensor, *sizes: Any) -> Tensor:
    """Another size for the memory that follows the first element; more memory if it is too small.

    Nothing that needs a gradient can be resized (:class:`RuntimeError`). Views of what gets new memory keep the old one.
    """
    if events.special & events.TRANSFORM:
        check_captured(self, "resize_", ())
    return _resized(self, sizes)


def _resized(self: Tensor, sizes: tuple[Any, ...]) -> Tensor:
    shown_as = list(everywhere(self)) if events.special & events.TRANSFORM else [self]
    if any(x.requires_grad for x in shown_as):
        raise shape_error("cannot resize variables that require grad")
    if tangents_of(self):
        raise shape_error("cannot resize variables that has a forward grad")
    size = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else sizes
    if any(n < 0 for n in size):
        raise shape_error("numel: integer multiplication overflow")
    if size == self.shape:
        return self  # which is no write
    check_counted(self)
    if events.special & events.STRICT:
        refuse(self, "resize_")
    array = resized(self, size)
    for x in shown_as:
        old, x._a = x._a, array
        follow(x, old)
    self._bump("resize_", None, *caller())
    return self


@public("torch Tensor")
def resize_as_(self: Tensor, the_template: Tensor) -> Tensor:
    """:func:`resize_` to the size of another tensor."""
    if events.special & events.TRANSFORM:
        check_captured(self, "resize_as_", ())
    return _resized(self, (the_template._a.shape,))


def resized(t: Tensor, size: Sizes, steps: Sizes = ()) -> Any:
    """``size`` elements from the first of ``t`` on, in new memory where its own is too small and may be exchanged.

    They lie one after the other, in the order of the byte ``steps`` between them where those leave no gaps.
    """
    x = t._a
    memory, first = memory_of(x)
    if first + math.prod(size) * x.itemsize > memory.size:
        check_grows(t)
        old, memory, first = memory[first:], array_module(x).empty(math.prod(size), x.dtype).view(np.uint8), 0
        memory[: old.size] = old
    return shown(memory, x.dtype, first, size, _packed(size, steps, x.itemsize))


def _packed(size: Sizes, steps: Sizes, itemsize: int) -> Sizes:
    """Byte steps without gaps for ``size``, its dimensions in the order of ``steps``; in their own without any."""
    order = sorted(range(len(size)), key=lambda d: (-steps[d], d)) if steps and 0 not in steps else range(len(size))
    packed, step = [0] * len(size), itemsize
    for d in reversed(order):
        packed[d], step = step, step * max(size[d], 1)
    return tuple(packed)
