"""``(x - mean) / std`` along some dimensions, with its gradient and tangent: what all normalisations share."""

from __future__ import annotations

from typing import Any

from ....tensor import Tensor
from ... import _generated as g
from ... import kernels
from ..declare import formula, in_both, kernel

Dims = tuple[int, ...]


@kernel
def moments(x: Any, dims: Dims) -> tuple[Any, Any]:
    """Mean and mean squared distance from it along ``dims``, which stay with size 1."""
    mean = kernels.mean_dim(x, dims, True)
    centred = x - mean
    centred *= centred
    return mean, kernels.mean_dim(centred, dims, True)


def scaled(x: Any, mean: Any, factor: Any, weight: Any, bias: Any) -> Any:
    """``(x - mean) * factor * weight + bias`` where the last two may be missing."""
    out = x - mean
    out *= factor
    if weight is not None:
        out = out * weight
    return out if bias is None else out + bias


def _recorded(x: Tensor, mean: Tensor, rstd: Tensor, dims: Dims, eps: float) -> tuple[Tensor, Tensor]:
    """Mean and 1 / std as functions of ``x``: the saved ones have no history."""
    mean = g.mean_dim(x, dims, True)
    centred = x - mean
    return mean, g.rsqrt(g.mean_dim(centred * centred, dims, True) + eps)


in_both("moments_of", lambda x, mean, rstd, dims, eps: (mean, rstd), _recorded)


@formula
def standard(F: Any, x: Any, mean: Any, rstd: Any, dims: Dims, eps: float) -> Any:
    """``(x - mean) * rstd``."""
    mean, rstd = F.moments_of(x, mean, rstd, dims, eps)
    return (x - mean) * rstd


@formula
def standard_grad(F: Any, grad: Any, x: Any, mean: Any, rstd: Any, dims: Dims, eps: float) -> Any:
    """The gradient of :func:`standard`, and its tangent: that matrix is symmetric."""
    mean, rstd = F.moments_of(x, mean, rstd, dims, eps)
    normal = (x - mean) * rstd
    return rstd * (grad - F.mean_dim(grad, dims, True) - normal * F.mean_dim(grad * normal, dims, True))
