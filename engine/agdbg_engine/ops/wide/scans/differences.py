"""Differences between neighbours along a dimension: plain ones, and as estimates of derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....creation import zeros_like
from ....dtype import get_default_dtype
from ....foreign import described
from ....tensor import Tensor
from ...compare import PAIRWISE
from ...elementwise import copy
from ...explain import not_a_tensor, shape_error
from ...lists import cat
from ...mixed_devices import together
from ...shape import narrow, one_dim, some_dims
from ..declare import OPS, public


def pieces(x: Tensor, dim: int, start: int, length: int) -> Tensor:
    """``length`` entries of ``x`` from ``start`` along ``dim``."""
    return narrow(x, dim, start, length)


def over(x: Tensor, number: Any) -> Tensor:
    """``x / number``; integers in the default dtype."""
    made: Tensor = OPS["over_number"](x if x.dtype.kind in "fc" else x.to(get_default_dtype()), number)
    return made


@public("torch Tensor", out=True)
def diff(
    self: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """Differences of neighbours along ``dim``, ``n`` times over; of bools whether they differ.

    ``prepend`` and ``append`` are joined to the tensor first.
    """
    if self.ndim < 1:
        raise shape_error("diff expects input to be at least one-dimensional")
    if n < 0:
        raise shape_error(f"order must be non-negative but got {n}")
    if n == 0 and prepend is append is None:
        return copy(zeros_like(self), self)
    dim = one_dim(self, dim)
    for name, x in (("prepend", prepend), ("append", append)):
        _check_more(self, dim, name, x)
    if n == 0:
        return copy(zeros_like(self), self)
    more = [t for t in (prepend, self, append) if t is not None]
    x = cat(more, dim) if len(more) > 1 else self
    size = x.shape[dim]
    for _ in range(min(n, size)):
        rest = max(x.shape[dim] - 1, 0)
        low, high = pieces(x, dim, 0, rest), pieces(x, dim, min(1, x.shape[dim]), rest)
        x = PAIRWISE["logical_xor"](high, low) if x.dtype.kind == "b" else high - low
    return x


def _check_more(x: Tensor, dim: int, name: str, other: Any) -> None:
    if other is None:
        return
    if not isinstance(other, Tensor):
        raise TypeError(f"diff(): argument '{name}' must be Tensor, not {described(other)}")
    if other.ndim != x.ndim:
        raise shape_error("diff expects prepend or append to be the same dimension as input")
    for d in range(x.ndim):
        if d != dim and x.shape[d] != other.shape[d]:
            raise shape_error(
                "diff expects the shape of tensor to prepend or append to match that of input except along the differencing "
                f"dimension; input.size({d}) = {x.shape[d]}, but got tensor.size({d}) = {other.shape[d]}"
            )


# ----- estimates of derivatives -----


@public("torch")
def gradient(self: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """Estimates of the derivative along ``dim`` (all by default), by central differences, one-sided ones at both ends.

    ``spacing`` is the distance of neighbours, one number for all dimensions or one each, or the coordinates, a 1-d tensor for
    every dimension. ``edge_order`` is the order of the one-sided differences, 1 or 2.
    """
    if not isinstance(self, Tensor):
        raise not_a_tensor("gradient", "input", self, 1)
    if self.dtype == np.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    spacings = _spacings(self, spacing, dim)
    dims = range(self.ndim) if dim is None else [dim] if isinstance(dim, int) else some_dims(self, dim)
    dims = [one_dim(self, d) for d in dims] if self.ndim else []
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if any(self.shape[d] <= edge_order for d in dims):
        raise shape_error("torch.gradient expected each dimension size to be at least edge_order+1")
    return tuple(
        _by_places(self, d, s, edge_order) if isinstance(s, Tensor) else _by_steps(self, d, s, edge_order)
        for d, s in zip(dims, spacings or [1] * len(dims), strict=True)
    )


def _spacings(x: Tensor, spacing: Any, dim: Any) -> list[Any]:
    """The spacing for every dimension; tensors are coordinates."""
    count = x.ndim if dim is None else 1 if isinstance(dim, int) else len(dim)
    if isinstance(spacing, Tensor) and spacing.ndim == 0:
        spacing = spacing.item()
    if not isinstance(spacing, tuple | list):
        return [1 if spacing is None else spacing] * count
    if dim is None and len(spacing) != count:
        raise shape_error(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = "
            f"{count}', since dim argument was not given, but got a list of length {len(spacing)}"
        )
    if len(spacing) != count:
        raise shape_error(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the same "
            f"length, but got a spacing argument of length {len(spacing)} and a dim argument of length {count}."
        )
    for s in spacing:
        together(x, s, "torch.gradient expected each tensor to be on the same device, but got devices {0} and {1}!")
        if isinstance(s, Tensor) and s.ndim != 1:
            raise shape_error(
                "torch.gradient expected each element of spacing to have one dimension, but got an element with "
                f"{s.ndim} dimensions!"
            )
    return list(spacing)


def _by_steps(x: Tensor, dim: int, step: float, edge_order: int) -> Tensor:
    """Neighbours lie ``step`` apart."""
    n = x.shape[dim]

    def at(i: int) -> Tensor:
        return pieces(x, dim, i, 1)

    if edge_order == 1:
        ends = at(1) - at(0), at(n - 1) - at(n - 2)
    else:
        ends = at(0) * -1.5 + at(1) * 2 - at(2) * 0.5, at(n - 1) * 1.5 - at(n - 2) * 2 + at(n - 3) * 0.5
    centre = over(over(pieces(x, dim, 2, n - 2) - pieces(x, dim, 0, n - 2), step), 2)
    return cat([over(ends[0], step), centre, over(ends[1], step)], dim)


def _by_places(x: Tensor, dim: int, places: Tensor, edge_order: int) -> Tensor:
    """Neighbours lie at ``places``."""
    n = x.shape[dim]
    steps = pieces(places, 0, 1, n - 1) - pieces(places, 0, 0, n - 1)
    shape = tuple(-1 if d == dim else 1 for d in range(x.ndim))
    left, right = (pieces(steps, 0, i, n - 2).reshape(shape) for i in (0, 1))

    def at(i: int) -> Tensor:
        return pieces(x, dim, i, 1)

    def weighted(parts: Any, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        return parts[0] * a + parts[1] * b + parts[2] * c

    centre = weighted(
        (-right / (left * (left + right)), (right - left) / (left * right), left / (right * (left + right))),
        *(pieces(x, dim, i, n - 2) for i in range(3)),
    )
    if edge_order == 1:
        ends = (at(1) - at(0)) / steps[0], (at(n - 1) - at(n - 2)) / steps[n - 2]
    else:
        s, t = steps[0], steps[1]
        first = weighted((-(2 * s + t) / (s * (s + t)), (s + t) / (s * t), -s / (t * (s + t))), at(0), at(1), at(2))
        s, t = steps[n - 3], steps[n - 2]
        last = weighted(
            (t / (s * (s + t)), -(t + s) / (s * t), (2 * t + s) / (t * (s + t))), at(n - 3), at(n - 2), at(n - 1)
        )
        ends = first, last
    return cat([ends[0], centre, ends[1]], dim)
