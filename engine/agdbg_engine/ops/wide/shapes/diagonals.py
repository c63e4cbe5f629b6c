"""Diagonals: views of them, matrices made of them, matrices with another one put in."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import events
from ....device import array_module
from ....inside import check_write as check_captured
from ....several import at_home
from ....tensor import Tensor
from ... import _generated as g
from ...explain import not_a_tensor, shape_error
from ...shape import one_dim
from ..declare import kernel, linear, public, view
from .strides import as_strided, offset_of

Shape = tuple[int, ...]


def _diagonal(x: Any, offset: int, dim1: int, dim2: int) -> Any:
    out = np.diagonal(x, offset, dim1, dim2)
    if isinstance(out, np.ndarray) and x.flags.writeable:
        out.flags.writeable = True  # NumPy's caution: it is a view like any other
    return out


@kernel
def diagonal_backward(g: Any, shape: Shape, offset: int, dim1: int, dim2: int) -> Any:
    """Zeros of ``shape`` with ``g`` on the diagonal."""
    out = array_module(g).zeros(shape, g.dtype)
    _diagonal(out, offset, dim1, dim2)[...] = g
    return out


def _embedded(x: Any, offset: int, dim1: int, dim2: int) -> Any:
    """Matrices in ``dim1`` and ``dim2`` with the last dimension of ``x`` on their diagonal."""
    n, rest = x.shape[-1] + abs(offset), iter(x.shape[:-1])
    shape = [n if d in (dim1, dim2) else next(rest) for d in range(x.ndim + 1)]
    out = array_module(x).zeros(shape, x.dtype)
    _diagonal(out, offset, dim1, dim2)[...] = x
    return out


def _scattered(x: Any, src: Any, offset: int, dim1: int, dim2: int) -> Any:
    """A copy of ``x`` with ``src`` on the diagonal."""
    out = x.copy()
    _diagonal(out, offset, dim1, dim2)[...] = src
    return out


_WHERE = "offset, dim1, dim2"
_view = view(f"diagonal(self, {_WHERE})", "DiagonalBackward0", f"diagonal_backward(g, self_shape, {_WHERE})",
             value=_diagonal)  # fmt: skip
_copy = linear(f"diagonal_copy(self, {_WHERE})", "DiagonalBackward0_copy", f"diagonal_backward(g, self_shape, {_WHERE})",
               value=_diagonal)  # fmt: skip
linear(
    f"diagonal_backward(grad_output, shape, {_WHERE})",
    "DiagonalBackwardBackward0",
    "",
    grad_output=f"diagonal(g, {_WHERE})",
)
_embed = linear(f"diag_embed(self, {_WHERE})", "DiagEmbedBackward0", f"diagonal(g, {_WHERE})", value=_embedded)
_scatter = linear(
    f"diagonal_scatter(self, src, {_WHERE})",
    "DiagonalScatterBackward0",
    f"diagonal_scatter(g, zeros_of(src_shape, g), {_WHERE})",
    src=f"diagonal(g, {_WHERE})",
    value=_scattered,
)


def _dims(x: Tensor, dim1: int, dim2: int, what: str = "diagonal dimensions") -> tuple[int, int]:
    a, b = one_dim(x, dim1), one_dim(x, dim2)
    if a == b:
        raise shape_error(f"{what} cannot be identical {dim1}, {dim2}")
    return a, b


@public("torch Tensor")
def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonals of the matrices in ``dim1`` and ``dim2`` as a view, in a last dimension."""
    return _view(self, offset, *_dims(self, dim1, dim2))


@public("torch", out=True)
def diagonal_copy(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of :func:`diagonal`."""
    return _copy(self, offset, *_dims(self, dim1, dim2))


@public("linalg.diagonal")
def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """:func:`diagonal` of the matrices in the last dimensions."""
    return diagonal(A, offset, dim1, dim2)


linalg_diagonal.__name__ = "diagonal"


@public("torch Tensor")
def diag_embed(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices in ``dim1`` and ``dim2`` that are zero but for the diagonal: the last dimension of ``self``."""
    n = self.ndim + 1
    for d in (dim1, dim2):
        if not -n <= d < n:
            raise shape_error(
                f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})", IndexError
            )
    if dim1 % n == dim2 % n:
        raise shape_error(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return _embed(self, offset, dim1 % n, dim2 % n)


@public("torch Tensor", out=True)
def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """A matrix with a vector on the diagonal, or a copy of the diagonal of a matrix."""
    if self.ndim == 1:
        return _embed(self, diagonal, 0, 1)
    if self.ndim != 2:
        raise shape_error(f"diag(): Supports 1D or 2D tensors. Got {self.ndim}D")
    return _copy(self, diagonal, 0, 1)


@public("torch Tensor")
def diagflat(self: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements on the diagonal."""
    flat = g.view(self, (self._a.size,)) if self.is_contiguous() else self.reshape(-1)
    return diag(flat, offset)


@public("torch Tensor")
@at_home
def diagonal_scatter(self: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of ``self`` with ``src`` in the place of :func:`diagonal`."""
    if not isinstance(src, Tensor):
        raise not_a_tensor("diagonal_scatter", "src", src, 2)
    a, b = _dims(self, dim1, dim2)
    wanted = _diagonal(self._a, offset, a, b).shape
    if src.shape != wanted:
        raise shape_error(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = {list(wanted)}"
        )
    return _scatter(self, src.to(self.device, self.dtype), offset, a, b)


@public("Tensor")
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write the number ``fill_value`` on the main diagonal, of a tall matrix with ``wrap`` again below each square."""
    if isinstance(fill_value, Tensor) and not fill_value.ndim and not fill_value.requires_grad:
        fill_value = fill_value.item()
    if not isinstance(fill_value, int | float | complex | np.number):
        kind = type(fill_value).__name__
        raise TypeError(f"fill_diagonal_(): argument 'fill_value' (position 1) must be Number, not {kind}")
    if self.ndim < 2:
        raise shape_error("dimensions must larger than 1")
    if events.special & events.TRANSFORM:
        check_captured(self, "fill_diagonal_", ())
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise shape_error("all dimensions of input must be of equal length")
    step, n, first = sum(self.stride()), min(self.shape), offset_of(self)
    as_strided(self, (n,), (step,), first).fill_(fill_value)
    height, width = self.shape[:2]
    if wrap and self.ndim == 2 and height > width + 1:
        more = -(-self.numel() // (width + 1)) - n
        as_strided(self, (more,), (step,), first + self.stride(0) * (width + 1)).fill_(fill_value)
    return self
