"""Several results of one pass: variance and mean, the smallest and the largest; and counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dtype import scalar_type
from ....several import at_home
from ....tensor import Tensor, wrap
from ...compare import no_gradient
from ...explain import shape_error
from ...formulas import expand_dims, extreme_grad, var_grad
from ...kernels_reduce import in_float32, mean_and_var, mean_dim, std_dim, var_dim
from ...layout import by_rows
from ...reduce import spread
from ...shape import Dims, one_dim, some_dims
from ..declare import formula, op, public

# ----- variance and mean -----


@by_rows
def _var_mean(x: Any, dim: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    if in_float32(x):
        mean, var = mean_and_var(x, dim, correction, keepdim)
        return var.astype(np.float32), mean.astype(np.float32)
    return var_dim(x, dim, correction, keepdim), mean_dim(x, dim, keepdim)


@by_rows
def _std_mean(x: Any, dim: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    if in_float32(x):
        mean, var = mean_and_var(x, dim, correction, keepdim)
        return np.sqrt(var).astype(np.float32), mean.astype(np.float32)
    return std_dim(x, dim, correction, keepdim), mean_dim(x, dim, keepdim)


@formula
def var_mean_grad(F: Any, g_var: Any, g_mean: Any, x: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    """Gradient of variance and mean, either of which may have none."""
    parts = []
    if g_var is not None:
        parts.append(var_grad(F, g_var, x, dim, correction, keepdim))
    if g_mean is not None:
        parts.append(expand_dims(F, F.mean_share(g_mean, x.shape, dim), x.shape, dim, keepdim))
    return None if not parts else parts[0] if len(parts) == 1 else parts[0] + parts[1]


@formula
def of_root(F: Any, g: Any, std: Any) -> Any:
    """The gradient of a variance from that of its root ``std``; 0 where that is 0."""
    return None if g is None else F.drop(g / (2 * std), std == 0)


_HOW = "dim, correction, keepdim"
VAR_MEAN = op(f"var_mean_raw(self, {_HOW})", "VarMeanBackward0", outputs="result0 result1", holomorphic=False, value=_var_mean,
   self=f"var_mean_grad(g_result0, g_result1, self, {_HOW})",
   jvp=f"(var_tangent(self_t, self, {_HOW}), mean_dim(self_t, dim, keepdim))")  # fmt: skip
STD_MEAN = op(f"std_mean_raw(self, {_HOW})", "StdMeanBackward0", outputs="result0 result1", holomorphic=False, value=_std_mean,
   self=f"var_mean_grad(of_root(g_result0, result0), g_result1, self, {_HOW})",
   jvp=f"(of_root(var_tangent(self_t, self, {_HOW}), result0), mean_dim(self_t, dim, keepdim))")  # fmt: skip


def _pair(
    name: str, row: Any, x: Tensor, dim: Any, unbiased: bool | None, keepdim: bool, correction: Any
) -> tuple[Tensor, Tensor]:
    if x._a.dtype.kind not in "fc":
        raise RuntimeError(f"{name} only support floating point and complex dtypes")
    if isinstance(dim, bool):  # var_mean(x, unbiased)
        dim, unbiased = None, dim
    first, mean = row(*spread(name, x, dim, unbiased, correction), keepdim)
    return first, mean


@public("torch")
def var_mean(
    self: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None
) -> tuple[Tensor, Tensor]:
    """Variance and mean of all elements or along ``dim``; see :func:`var`."""
    return _pair("var_mean", VAR_MEAN, self, dim, unbiased, keepdim, correction)


@public("torch")
def std_mean(
    self: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: Any = None
) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean of all elements or along ``dim``; see :func:`std`."""
    return _pair("std_mean", STD_MEAN, self, dim, unbiased, keepdim, correction)


# ----- extremes -----


@by_rows
def _both_ends(x: Any, dim: Any, keepdim: bool) -> tuple[Any, Any]:
    axis = None if dim == () else dim
    return x.min(axis=axis, keepdims=keepdim), x.max(axis=axis, keepdims=keepdim)


@formula
def both_ends_grad(F: Any, g_min: Any, g_max: Any, x: Any, min: Any, max: Any, dim: Any, keepdim: bool) -> Any:
    """Gradient of both extremes: each shared evenly among ties."""
    parts = [extreme_grad(F, g, x, end, dim, keepdim) for g, end in ((g_min, min), (g_max, max)) if g is not None]
    return None if not parts else parts[0] if len(parts) == 1 else parts[0] + parts[1]


AMINMAX = op("aminmax_raw(self, dim, keepdim)", "AminmaxBackward0", outputs="min max", value=_both_ends,
   self="both_ends_grad(g_min, g_max, self, min, max, dim, keepdim)",
   jvp="(extreme_tangent(self_t, self, min, dim, keepdim), extreme_tangent(self_t, self, max, dim, keepdim))")  # fmt: skip


@public("torch Tensor", out=True)
def aminmax(self: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """``(min, max)`` of all elements or along ``dim``; ties share the gradients."""
    if self._a.dtype.kind == "c":
        raise NotImplementedError(f"\"aminmax_cpu\" not implemented for '{scalar_type(self.dtype)}'")
    if dim is None and not self._a.size:
        raise shape_error("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
    if dim is None:
        return AMINMAX(self, (), keepdim)
    dim = one_dim(self, dim)
    if self.ndim and not self.shape[dim]:
        raise shape_error(f"aminmax: Expected reduction dim {dim} to have non-zero size.", IndexError)
    return AMINMAX(self, dim if self.ndim else (), keepdim)


# ----- counts -----


@public("torch Tensor")
@at_home
def count_nonzero(self: Tensor, dim: Dims = None) -> Tensor:
    """How many elements, of all or along ``dim``, are not 0; no gradient."""
    dims = some_dims(self, dim)
    no_gradient((self,))
    return wrap((self._a != 0).sum(None if dims == () else dims, dtype=np.int64))
