"""``(x - mean) / std`` along some dimensions, with its gradient and tangent: what all normalisations share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....rowwise import rowwise
from ....tensor import Tensor
from ... import _generated as g
from ... import kernels
from ..declare import formula, in_both

Dims = tuple[int, ...]


def moments_and_centred(x: Any, dims: Dims) -> tuple[Any, Any, Any]:
    """Mean and mean squared distance from it along ``dims``, which stay with size 1; and ``x - mean`` in a buffer to write into."""
    mean = kernels.mean_dim(x, dims, True)
    centred = x - mean
    return mean, _mean_product(centred, centred, dims), centred


def _mean_product(x: Any, y: Any, dims: Dims) -> Any:
    """The mean of ``x * y`` along ``dims``, which stay with size 1; rows are multiplied by BLAS, without a buffer."""
    rows = dims == (x.ndim - 1,) and x.shape[-1] and x.shape == y.shape and x.dtype == y.dtype and x.dtype.itemsize > 2
    if rows and type(x) is type(y) is np.ndarray and x.flags.c_contiguous and y.flags.c_contiguous:
        return np.vecdot(x, y)[..., None] / x.shape[-1]
    return kernels.mean_dim(x * y, dims, True)


def scaled(centred: Any, factor: Any, weight: Any, bias: Any) -> Any:
    """``centred * factor * weight + bias`` where the last three may be missing; written over ``centred`` where dtypes allow."""
    if factor is not None:
        centred = _into(np.multiply, centred, factor)
    if weight is not None:
        centred = _into(np.multiply, centred, weight)
    return centred if bias is None else _into(np.add, centred, bias)


def _into(ufunc: Any, x: Any, y: Any) -> Any:
    return ufunc(x, y, out=x) if x.dtype == y.dtype else ufunc(x, y)


def _recorded(x: Tensor, mean: Tensor, rstd: Tensor, dims: Dims, eps: float) -> tuple[Tensor, Tensor]:
    """Mean and 1 / std as functions of ``x``: the saved ones have no history."""
    mean = g.mean_dim(x, dims, True)
    centred = x - mean
    return mean, g.rsqrt(g.mean_dim(centred * centred, dims, True) + eps)


in_both("moments_of", lambda x, mean, rstd, dims, eps: (mean, rstd), _recorded)


@formula
def standard(F: Any, x: Any, mean: Any, rstd: Any, dims: Dims, eps: float) -> Any:
    """``(x - mean) * rstd``."""
    return F.normal_by(x, *F.moments_of(x, mean, rstd, dims, eps))


in_both("normal_by", lambda x, mean, rstd: _into(np.multiply, x - mean, rstd), lambda x, mean, rstd: (x - mean) * rstd)


@formula
def standard_grad(F: Any, grad: Any, x: Any, mean: Any, rstd: Any, dims: Dims, eps: float) -> Any:
    """The gradient of :func:`standard`, and its tangent: that matrix is symmetric."""
    return F.standard_grad_by(grad, x, *F.moments_of(x, mean, rstd, dims, eps), dims)


_STANDARD_GRAD = rowwise(
    "standard_grad",
    "g x",
    ("g", "g * ((x - mean) * rstd)"),
    "rstd * (g - (sum0 + (x - mean) * rstd * sum1) / T(n))",
    "mean rstd",
)


def _grad_by(grad: Any, x: Any, mean: Any, rstd: Any, dims: Dims) -> Any:
    if type(x) is not np.ndarray and (found := _STANDARD_GRAD(dims, (grad, x), (mean, rstd))) is not None:
        return found
    out = x - mean
    out *= rstd
    out *= _mean_product(grad, out, dims)
    out += kernels.mean_dim(grad, dims, True)
    out = np.subtract(grad, out, out=out if out.dtype == grad.dtype else None)
    out *= rstd
    return out


def _recorded_grad_by(grad: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, dims: Dims) -> Tensor:
    normal = (x - mean) * rstd
    return rstd * (grad - g.mean_dim(grad, dims, True) - normal * g.mean_dim(grad * normal, dims, True))


in_both("standard_grad_by", _grad_by, _recorded_grad_by)
