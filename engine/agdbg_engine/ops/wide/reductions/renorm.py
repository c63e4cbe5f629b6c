"""Slices of a tensor made shorter where their norm is above a limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....tensor import Tensor
from ... import kernels
from ...explain import shape_error
from ...formulas import inner
from ...layout import by_rows
from ...shape import one_dim
from ..declare import INPLACE, formula, op, public
from ..linalg.checks import floating
from ..linalg.norms import vector_norm_grad, vector_norm_tangent

_SMALL = 1e-7
"""What PyTorch adds to a norm before it divides by it."""


def _others(ndim: int, dim: int) -> tuple[int, ...]:
    return tuple(d for d in range(ndim) if d != dim)


@by_rows
def _shortened(x: Any, p: float, dim: int, maxnorm: float) -> Any:
    if x.dtype == np.float16:
        return _shortened(x.astype(np.float32), p, dim, maxnorm).astype(x.dtype)
    norm = kernels.vector_norm_raw(x, p, _others(x.ndim, dim), True)  # type: ignore[attr-defined]  # a kernel of a family
    return x * np.where(norm > maxnorm, norm.dtype.type(maxnorm) / (norm + norm.dtype.type(_SMALL)), norm.dtype.type(1))


@formula
def renorm_grad(F: Any, g: Any, x: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Gradient of the slices made shorter: that of ``x * maxnorm / norm`` where that was done."""
    dims = _others(len(x.shape), dim)
    norm = F.vector_norm_raw(x, p, dims, True)
    scale = 1 / (norm + _SMALL)
    g_norm = F.sum_dim(inner(F, g, x), dims, True) * (-maxnorm * (scale * scale))
    through = vector_norm_grad(F, g_norm, x, norm, p, dims, True)
    return F.where(norm > maxnorm, g * (maxnorm * scale) + through, g)


@formula
def renorm_tangent(F: Any, x_t: Any, x: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Tangent of the slices made shorter."""
    dims = _others(len(x.shape), dim)
    norm = F.vector_norm_raw(x, p, dims, True)
    scale = 1 / (norm + _SMALL)
    norm_t = vector_norm_tangent(F, x_t, x, norm, p, dims, True)
    return F.where(norm > maxnorm, x_t * (maxnorm * scale) - x * (maxnorm * (scale * scale) * norm_t), x_t)


RENORM = op("renorm_raw(self, p, dim, maxnorm)", "RenormBackward0", self="renorm_grad(g, self, p, dim, maxnorm)",
   jvp="renorm_tangent(self_t, self, p, dim, maxnorm)", holomorphic=False, value=_shortened)  # fmt: skip


@public("torch Tensor", out=True)
def renorm(self: Tensor, p: Any, dim: int, maxnorm: Any) -> Tensor:
    """``self`` with every slice along ``dim`` whose ``p``-norm is above ``maxnorm`` scaled down to that."""
    if isinstance(p, complex):
        raise RuntimeError("renorm: p must be real-valued")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if isinstance(maxnorm, complex):
        raise RuntimeError("renorm: maxnorm must be real-valued")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if self.ndim < 2:
        raise shape_error(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    floating("linalg.vector_norm", self, low=True)
    return RENORM(self, float(p), one_dim(self, dim), float(maxnorm))


INPLACE["renorm_"] = renorm
