"""Elements in another order: reversed, shifted round, turned by quarters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....tensor import Tensor
from ...explain import shape_error
from ...layout import by_rows
from ...shape import one_dim, some_dims
from ..declare import formula, linear, public

Ints = int | tuple[int, ...] | list[int]


def _reversed(x: Any, dims: tuple[int, ...]) -> Any:
    back = slice(None, None, -1)
    return x[tuple([back if d in dims else slice(None) for d in range(x.ndim)])].copy()


@by_rows
def _rolled(x: Any, shifts: tuple[int, ...], dims: tuple[int, ...]) -> Any:
    if len(dims) == 1 and x.shape[dims[0]]:
        (d,), n = dims, x.shape[dims[0]]
        before = (slice(None),) * d
        at = n - shifts[0] % n
        return np.concatenate((x[(*before, slice(at, None))], x[(*before, slice(at))]), axis=d)
    return np.roll(x, shifts, dims) if dims else np.roll(x, shifts[0])


def _turned(x: Any, k: int, dims: tuple[int, int]) -> Any:
    return np.rot90(x, k, dims)


@formula
def opposite(F: Any, shifts: tuple[int, ...]) -> tuple[int, ...]:
    """Shifts that undo ``shifts``."""
    return tuple(-s for s in shifts)


_flip = linear("flip(self, dims)", "FlipBackward0", "flip(g, dims)", value=_reversed)
_roll = linear("roll(self, shifts, dims)", "RollBackward0", "roll(g, opposite(shifts), dims)", value=_rolled)
_rot90 = linear("rot90(self, k, dims)", "Rot90Backward0", "rot90(g, -k, dims)", value=_turned)


def _tuple(value: Any) -> tuple[int, ...]:
    return (value,) if isinstance(value, int) else tuple(value)


@public("torch Tensor")
def flip(self: Tensor, *dims: Any) -> Tensor:
    """A copy with the order along ``dims`` reversed."""
    given = _tuple(dims[0]) if len(dims) == 1 else dims
    return _flip(self, some_dims(self, given))


@public("torch Tensor")
def fliplr(self: Tensor) -> Tensor:
    """:func:`flip` of the second dimension."""
    if self.ndim < 2:
        raise shape_error("Input must be >= 2-d.")
    return _flip(self, (1,))


@public("torch Tensor")
def flipud(self: Tensor) -> Tensor:
    """:func:`flip` of the first dimension."""
    if self.ndim < 1:
        raise shape_error("Input must be >= 1-d.")
    return _flip(self, (0,))


@public("torch Tensor")
def roll(self: Tensor, shifts: Ints, dims: Ints | None = ()) -> Tensor:
    """Elements shifted along ``dims``, what leaves at the end coming in at the start; without ``dims`` as one row."""
    shifts, dims = _tuple(shifts), () if dims is None else _tuple(dims)
    if not shifts:
        raise shape_error("`shifts` required")
    if len(shifts) != len(dims) and (dims or len(shifts) != 1):
        raise shape_error(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not self.ndim and dims:
        raise shape_error(f"Dimension specified as {dims[0]} but tensor has no dimensions", IndexError)
    if not self.numel():  # the dims do not matter
        return _roll(self, (0,), ())
    return _roll(self, shifts, tuple(one_dim(self, d) for d in dims))


@public("torch Tensor")
def rot90(self: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """A copy turned by ``k`` quarters in the plane of ``dims``, from the first to the second."""
    dims = tuple(dims)
    if len(dims) != 2:
        raise shape_error(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.ndim < 2:
        raise shape_error(f"expected total dims >= 2, but got total dims = {self.ndim}")
    first, second = (one_dim(self, d) for d in dims)
    if first == second:
        raise shape_error(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    return _rot90(self, k % 4, (first, second))
