"""Copies of a tensor side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....tensor import Tensor
from ...explain import shape_error
from ...layout import by_rows
from ...shape import sizes
from ..declare import formula, linear, public

Shape = tuple[int, ...]


@by_rows
def _tiled(x: Any, repeats: Shape) -> Any:
    return np.tile(x, repeats)


@formula
def repeat_grad(F: Any, g: Any, shape: Shape, repeats: Shape) -> Any:
    """Gradient of ``repeat``: the sum over all copies."""
    whole = (1,) * (len(repeats) - len(shape)) + shape
    apart = tuple(n for pair in zip(repeats, whole, strict=True) for n in pair)
    if not apart:
        return F.clone(g, "K")
    summed = F.sum_dim(F.reshape(g, apart), tuple(range(0, len(apart), 2)), False)
    return F.reshape(summed, shape)


_repeat = linear("repeat(self, repeats)", "RepeatBackward0", "repeat_grad(g, self_shape, repeats)", value=_tiled)


@public("Tensor")
def repeat(self: Tensor, *repeats: Any) -> Tensor:
    """So many copies of the tensor side by side in every dimension; more numbers than dimensions make new ones in front."""
    if len(repeats) == 1 and isinstance(repeats[0], Tensor):
        raise TypeError("repeat(): argument 'repeats' (position 1) must be tuple of ints, not Tensor")
    times = sizes("repeat", repeats)
    if len(times) < self.ndim:
        raise shape_error("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    if any(n < 0 for n in times):
        wanted = [n * s for n, s in zip(times, (1,) * (len(times) - self.ndim) + self.shape, strict=True)]
        negative = next((n for n in wanted if n < 0), None)
        if negative is not None:
            raise shape_error(f"Trying to create tensor with negative dimension {negative}: {wanted}")
    return _repeat(self, tuple(max(n, 0) for n in times))


@public("torch Tensor")
def tile(self: Tensor, *dims: Any) -> Tensor:
    """:func:`repeat` with ones put in front where there are fewer numbers than dimensions."""
    times = sizes("tile", dims)
    return repeat(self, (1,) * (self.ndim - len(times)) + times)
