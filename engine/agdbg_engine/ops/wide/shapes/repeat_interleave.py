"""Every element so many times in a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....device import array_module
from ....dtype import scalar_type
from ....memory_format import contiguous_format
from ....several import at_home, copied
from ....tensor import Tensor, wrap
from ...explain import shape_error
from ...shape import expand, flatten, one_dim, unsqueeze, view
from ..declare import public
from ..indexing.index_ops import index_select


@public("torch Tensor")
def repeat_interleave(
    self: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Every slice along ``dim`` (without it: every element) ``repeats`` times in a row: a number, or a tensor with one for each.

    With one argument that is a tensor of ``repeats``: 0, 1, ... so many times each.
    """
    if repeats is None:
        return _numbered(self, output_size)
    if dim is None:
        self, dim = flatten(self), 0
    if isinstance(repeats, Tensor):
        return _by_tensor(self, repeats, one_dim(self, dim), output_size)
    if repeats < 0:
        raise shape_error("Repeats must be non-negative")
    if self.ndim == 0:
        one_dim(self, dim)
        raise shape_error("Dimension out of range (expected to be in range of [-1, 0], but got 1)", IndexError)
    dim = one_dim(self, dim)
    n = self.shape[dim] * repeats
    if output_size is not None and output_size != n:
        raise shape_error(f"repeat_interleave: Invalid output_size, expected {n} but got {output_size}")
    shape = (*self.shape[: dim + 1], repeats, *self.shape[dim + 1 :])
    spread = expand(unsqueeze(self, dim + 1), shape).clone(memory_format=contiguous_format)
    return view(spread, (*self.shape[:dim], n, *self.shape[dim + 1 :]))


def _by_tensor(x: Tensor, repeats: Tensor, dim: int, output_size: int | None) -> Tensor:
    size = x.shape[dim] if x.ndim else 1
    if repeats.ndim == 0 or (repeats.ndim == 1 and len(repeats) == 1):
        repeats = wrap(copied(np.broadcast_to(repeats._a.reshape(-1), (size,))))
    elif repeats.ndim == 1:
        if len(repeats) != size:
            raise shape_error(
                f"repeats must have the same size as input along dim, but got repeats.size(0) = {len(repeats)} and "
                f"input.size({dim}) = {size}"
            )
    else:
        raise shape_error("repeats must be 0-dim or 1-dim tensor")
    return index_select(x, dim, _numbered(repeats, output_size))


def _numbered(repeats: Tensor, output_size: int | None) -> Tensor:
    """0, 1, ... each as often as ``repeats`` says, in its dtype."""
    if repeats.ndim != 1:
        raise shape_error("repeat_interleave only accept 1D vector as repeat")
    if repeats.dtype not in (np.int64, np.int32):
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{scalar_type(repeats.dtype)}'")
    times = repeats._a
    if not on_host(times):
        return wrap(_numbered_elsewhere(times, output_size))
    if times.size and int(times.min()) < 0:
        raise shape_error("repeats can not be negative")
    if output_size is not None and output_size != int(times.sum()):
        raise shape_error("allocated size does not match required size")
    return wrap(np.repeat(np.arange(times.size).astype(times.dtype), times))


@at_home
def _numbered_elsewhere(times: Any, output_size: int | None) -> Any:
    """The same on a device, which is waited for only to learn how many there are; CuPy's ``repeat`` takes no array of counts."""
    xp, ends = array_module(times), times.cumsum()
    if output_size is None:
        output_size = int(ends[-1]) if times.size else 0
    return xp.searchsorted(ends, xp.arange(output_size, dtype=ends.dtype), side="right").astype(times.dtype)
