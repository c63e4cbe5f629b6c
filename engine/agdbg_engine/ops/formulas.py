"""Pieces of derivative formulas that are too long for a table row, written once for buffers and for tensors.

``F`` is the namespace the formula runs in: :mod:`.kernels` on buffers, :mod:`.graph` on tensors (recorded).
"""

from __future__ import annotations

import math
from typing import Any

Shape = tuple[int, ...]
Dims = int | tuple[int, ...] | None


def pow_grad_base(F: Any, g: Any, x: Any, exponent: Any) -> Any:
    """Gradient of ``x ** exponent`` in x; 0 where the exponent is 0."""
    if type(exponent) in (int, float):
        return F.zeros_of(g.shape, g) if exponent == 0 else g * (exponent * F.pow(x, exponent - 1))
    return F.where(exponent == 0, 0.0, g * (exponent * F.pow(x, exponent - 1)))


def pow_grad_exponent(F: Any, g: Any, x: Any, exponent: Any, result: Any) -> Any:
    """Gradient of ``x ** exponent`` in the exponent; 0 at ``0 ** exponent`` with exponent >= 0."""
    if type(x) in (int, float):
        if x == 0:
            return g * F.where(_not_negative(F, exponent), 0.0, result * -math.inf)
        return g * (result * (math.log(x) if x > 0 else math.nan))
    zero = (x == 0) & _not_negative(F, exponent)
    return g * F.where(zero, 0.0, result * F.log(x))


def _not_negative(F: Any, x: Any) -> Any:
    """Where ``x`` is a real number >= 0."""
    return (real_part(F, x) >= 0) & (imag_part(F, x) == 0) if x.dtype.kind == "c" else x >= 0


def index_put_grad(F: Any, g: Any, indices: Any, accumulate: bool) -> Any:
    """Gradient of ``x`` with something put, or added with ``accumulate``, at ``indices``."""
    at = tuple(indices)  # refused if it was freed, also where it does not matter
    return g if accumulate else F.index_put(g, at, 0.0)


def inside(F: Any, x: Any, low: Any, high: Any) -> Any:
    """Where x lies in [low, high], bounds included; nowhere for NaN."""
    if low is None:
        return x <= high
    return x >= low if high is None else (x >= low) & (x <= high)


def extreme_grad(F: Any, g: Any, x: Any, result: Any, dim: Dims, keepdim: bool) -> Any:
    """Gradient of amax / amin: shared evenly among ties."""
    mask = F.to_copy(x == expand_dims(F, result, x.shape, dim, keepdim), x.dtype)
    return mask * (expand_dims(F, g, x.shape, dim, keepdim) / F.sum_dim(mask, dim, True))


def extreme_of_all_grad(F: Any, g: Any, x: Any, result: Any) -> Any:
    """Gradient of max / min of all elements: shared evenly among ties, or among the NaNs; 0 elsewhere, whatever comes in."""
    return share_among(F, g, (x == result) | (x != x))


def share_among(F: Any, g: Any, chosen: Any) -> Any:
    """A number shared evenly among the chosen elements; no product with 0, which would spread a NaN to the others."""
    return F.where(chosen, g / F.sum_all(F.to_copy(chosen, g.dtype)), 0.0)


def extreme_of_all_tangent(F: Any, x_t: Any, x: Any, result: Any) -> Any:
    """Tangent of max / min / median of all elements: a product, so that a NaN anywhere is seen, as in PyTorch."""
    mask = F.to_copy(x == result, x.dtype)
    return F.sum_all(mask * (x_t / F.sum_all(mask)))


def extreme_of_two_tangent(F: Any, a_t: Any, b_t: Any, first: Any, share: Any = None) -> Any:
    """Tangent of the larger or smaller of two: that of the first where ``first``, the mean where ``share``.

    A product with the difference, which is NaN where either tangent is not finite, as in PyTorch.
    """
    part = F.to_copy(first, a_t.dtype)
    return b_t + (part if share is None else F.where(share, 0.5, part)) * (a_t - b_t)


def extreme_tangent(F: Any, x_t: Any, x: Any, result: Any, dim: Dims, keepdim: bool) -> Any:
    """Tangent of amax / amin: the mean of the tangents of the ties."""
    mask = x == expand_dims(F, result, x.shape, dim, keepdim)
    return F.sum_dim(F.keep(x_t, mask), dim, keepdim) / F.sum_dim(F.to_copy(mask, x.dtype), dim, keepdim)


def pick_backward(F: Any, g: Any, shape: Shape, indices: Any, dim: int, keepdim: bool) -> Any:
    """Zeros of ``shape`` with ``g`` at ``indices`` along ``dim``."""
    if not shape:
        return F.clone(g, "K")
    if not keepdim:
        g, indices = F.unsqueeze(g, dim), F.unsqueeze(indices, dim)
    return F.gather_backward(g, shape, dim, indices)


def var_grad(F: Any, g: Any, x: Any, dim: Dims, correction: float, keepdim: bool) -> Any:
    """Gradient of the variance."""
    factor, slope = _var_slope(F, x, dim, correction)
    return expand_dims(F, g * factor, x.shape, dim, keepdim) * slope


def var_tangent(F: Any, x_t: Any, x: Any, dim: Dims, correction: float, keepdim: bool) -> Any:
    """Tangent of the variance."""
    factor, slope = _var_slope(F, x, dim, correction)
    return F.sum_dim(inner(F, x_t * factor, slope), dim, keepdim)


def _var_slope(F: Any, x: Any, dim: Dims, correction: float) -> tuple[float, Any]:
    """Two factors of the derivative of the variance by every element. The first, which may be infinite, comes first."""
    free, mean = F.numel(x.shape, dim) - correction, F.mean_dim(x, dim, True)
    if (
        not dim and dim != 0 and free <= 0
    ):  # a constant, infinite whatever the sign, as in PyTorch, which differs for a dim
        return 1.0, F.masked_fill(F.ones_as(x) * math.inf, x == mean, math.nan)
    return _over(2.0, free), x - mean


def _over(a: float, b: float) -> float:
    return a / b if b else math.inf


def real_part(F: Any, x: Any) -> Any:
    """The real parts; real numbers as they are."""
    return F.select(F.view_as_real(x), -1, 0) if x.dtype.kind == "c" else x


def imag_part(F: Any, x: Any) -> Any:
    """The imaginary parts of complex numbers."""
    return F.select(F.view_as_real(x), -1, 1)


def inner(F: Any, a: Any, b: Any) -> Any:
    """``a * b``; for complex numbers, as vectors in the plane, their scalar product."""
    return real_part(F, a * F.conj_raw(b)) if b.dtype.kind == "c" else a * b


def sgn_grad(F: Any, g: Any, x: Any, result: Any) -> Any:
    """Gradient of ``x / abs(x)``: across the direction of x only; nothing for real numbers and at 0."""
    if x.dtype.kind != "c":
        return F.zeros_of(x.shape, x)
    size = F.abs(x)
    part = g / size
    return F.where(size == 0, 0.0, part - inner(F, part, result) * result)


def polar_tangent(F: Any, size_t: Any, angle_t: Any, size: Any, angle: Any) -> Any:
    """Tangent of the complex number of a size and an angle, by parts: a complex product would spread infinities as NaN."""
    cos, sin = F.cos(angle), F.sin(angle)
    return F.complex_raw(size_t * cos - angle_t * size * sin, size_t * sin + angle_t * size * cos)


def angle_tangent(F: Any, x_t: Any, x: Any) -> Any:
    """Tangent of the angle."""
    return inner(F, x_t, angle_grad(F, 1.0, x)) if x.dtype.kind == "c" else F.zeros_of(x.shape, x)


def angle_grad(F: Any, g: Any, x: Any) -> Any:
    """Gradient of the angle: across the direction of x; nothing for real numbers and at 0."""
    if x.dtype.kind != "c":
        return F.zeros_of(x.shape, x)
    return F.where(x == 0, 0.0, g * (x * 1j) / inner(F, x, x))


def mse_grad(F: Any, g: Any, x: Any, target: Any, reduction: str) -> Any:
    """Gradient of the squared error in x."""
    return (x - target) * (g * (2 / (F.numel(x.shape) or math.nan) if reduction == "mean" else 2.0))


def mse_tangent(F: Any, x: Any, target: Any, d_t: Any, reduction: str) -> Any:
    """Tangent of the squared error for the tangent ``d_t`` of ``x - target``."""
    t = 2.0 * (x - target) * d_t
    if reduction == "none":
        return t
    return F.sum_all(t) if reduction == "sum" else F.mean_all(t)


def norm_grad(F: Any, g: Any, x: Any, result: Any, dim: Dims, keepdim: bool) -> Any:
    """Gradient of the Euclidean norm; 0 where that is 0."""
    size = expand_dims(F, result, x.shape, dim, keepdim)
    return F.drop(x / size, size == 0) * expand_dims(F, g, x.shape, dim, keepdim)


def expand_dims(F: Any, x: Any, shape: Shape, dim: Dims, keepdim: bool) -> Any:
    """Undo a reduction along ``dim``: put size-1 dimensions back if they were dropped, then broadcast."""
    if not keepdim and len(x.shape):
        gone = {d % len(shape) for d in ((dim,) if isinstance(dim, int) else dim or ())}
        x = F.reshape(x, tuple(1 if d in gone else s for d, s in enumerate(shape)))
    return F.expand(x, shape)


def inverse_permutation(F: Any, dims: Shape) -> Shape:
    """The order of dimensions that undoes ``dims``."""
    n = len(dims)
    return tuple(sorted(range(n), key=lambda i: dims[i] % n))
