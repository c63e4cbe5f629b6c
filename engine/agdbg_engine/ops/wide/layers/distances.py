"""Distances between vectors: one by one, between all of two sets; the cosine; the bilinear form."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....dtype import promote_types, result_type, scalar_type
from ....foreign import described
from ....grad_mode import quiet_no_grad
from ....tensor import Tensor
from ... import kernels
from ...explain import shape_error, size_at
from ...matrix import matmul
from ...mixed_devices import with_numbers_beside
from ...shape import one_dim
from ..declare import OPS, formula, kernel, op, public
from ..linalg.norms import vector_norm_grad

# ----- one by one -----


@formula
def dist_grad(F: Any, grad: Any, difference: Any, result: Any, p: float, shape: tuple[int, ...]) -> Any:
    """The gradient of the norm of a difference in what is broadcast from ``shape``; none of a count."""
    found = vector_norm_grad(F, grad, difference, result, p, (), False)
    return None if found is None else F.sum_to(found, shape)


op("distance_norm(self, p, dim, keepdim)", "NormBackward1", self="vector_norm_grad(g, self, result, p, dim, keepdim)",
   jvp="vector_norm_tangent(self_t, self, result, p, dim, keepdim)", holomorphic=False,
   forward="vector_norm_raw(self, p, dim, keepdim)")  # fmt: skip
op("dist_raw(self, other, p)", "DistBackward0", holomorphic=False,
   self="dist_grad(g, self - other, result, p, self_shape)", other="dist_grad(-g, self - other, result, p, other_shape)",
   jvp="vector_norm_tangent(self_t - other_t, self - other, result, p, (), False)",
   forward="vector_norm_raw(self - other, p, (), False)")  # fmt: skip


@public("torch nn.functional")
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` along the last dimension."""
    difference = x1 - x2 + eps
    if not difference.ndim:
        return OPS["distance_norm"](difference, float(p), (), False)
    return OPS["distance_norm"](difference, float(p), difference.ndim - 1, keepdim)


@public("torch Tensor")
def dist(self: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of all elements of ``self - other``."""
    if not isinstance(other, Tensor):
        raise TypeError(f"dist(): argument 'other' (position 2) must be Tensor, not {described(other)}")
    if np.bool_ in (self.dtype, other.dtype):
        _ = self - other  # refused there
    dtype = result_type([(t.dtype, 2 if t.ndim else 1) for t in (self, other)])
    if dtype.kind not in "fc":
        raise RuntimeError(
            f"norm(): input dtype should be either floating point or complex. Got {scalar_type(dtype)} instead."
        )
    a, b = with_numbers_beside(self.to(dtype), other.to(dtype))
    return OPS["dist_raw"](a, b, float(p))


@public("torch nn.functional")
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along ``dim``, whose lengths count as no less than ``eps``."""
    dtype = promote_types(x1.dtype, x2.dtype)  # a 0-d tensor counts as much as any other
    if dtype.kind != "f":
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {scalar_type(dtype)}")
    a, b = _broadcast(x1, x2)
    dim = one_dim(a, dim)
    units = []
    for x in (x if x.dtype.kind == "f" else x.to(dtype) for x in (a, b)):
        size = OPS["vector_norm_raw"](x, 2.0, dim if x.ndim else (), x.ndim > 0).clone()
        with quiet_no_grad():
            size.clamp_(min=eps)
        units.append(x / size)
    return (units[0] * units[1]).sum(dim)


def _broadcast(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    if a.shape == b.shape:
        return a, b
    shape = (a.detach() + b.detach()).shape  # raises where they do not broadcast
    return a.expand(shape), b.expand(shape)


# ----- between all of two sets -----


@formula
def between_all(F: Any, x1: Any, x2: Any) -> Any:
    """Differences (..., P, R, M) of the vectors of two sets (..., P, M) and (..., R, M)."""
    return F.unsqueeze(x1, len(x1.shape) - 1) - F.unsqueeze(x2, len(x2.shape) - 2)


@formula
def distance_grad(F: Any, grad: Any, difference: Any, result: Any, p: float) -> Any:
    """The gradient of distances in the differences, 0 at distance 0; every largest component of the infinite norm gets all."""
    last = len(difference.shape) - 1
    if p == 0:
        return F.zeros_of(difference.shape, difference)
    grad, result = F.unsqueeze(grad, last), F.unsqueeze(result, last)
    if p == 1:
        return F.where(difference != difference, difference, F.sgn(difference)) * grad
    size = F.abs(difference)
    if math.isinf(p):
        apart = size - result
        return F.sgn(difference) * grad * F.where(apart != apart, apart, F.to_copy(apart == 0, size.dtype))
    if p == 2:
        share = grad * difference / result
    elif p < 2:
        share = F.sgn(difference) * F.pow(size, p - 1) * grad / F.pow(result, p - 1)
    else:
        share = difference * F.pow(size, p - 2) * grad / F.pow(result, p - 1)
    return F.drop(share, (result == 0) | (size == 0) if p < 1 else result == 0)


def _all_distances(x1: Any, x2: Any, p: float) -> Any:
    return norms(between_all(kernels, x1, x2), p)


def norms(difference: Any, p: float) -> Any:
    """The p-norms of ``difference`` along its last dimension."""
    if p == 0:  # a NaN makes the count one, unlike that of the norm
        return np.minimum(np.ceil(np.abs(difference)), 1).sum(-1)
    found: Any = kernels.vector_norm_raw(difference, p, difference.ndim - 1, False)  # type: ignore[attr-defined]  # a row
    return found


op("cdist_raw(x1, x2, p)", "CdistBackward0", kinds="w", value=_all_distances,
   x1="sum_to(sum_dim(distance_grad(g, between_all(x1, x2), result, p), -2, False), x1_shape)",
   x2="sum_to(-sum_dim(distance_grad(g, between_all(x1, x2), result, p), -3, False), x2_shape)")  # fmt: skip


@kernel
def euclidean_dist(x1: Any, x2: Any) -> Any:
    """Distances by one product of matrices, less exact for vectors that nearly agree."""
    squares = [np.einsum("...i,...i->...", x, x) for x in (x1, x2)]
    product = np.matmul(x1, np.swapaxes(x2, -1, -2))
    return np.sqrt(np.maximum(squares[0][..., None] + squares[1][..., None, :] - 2 * product, 0))


@formula
def euclidean_grad(F: Any, grad: Any, x1: Any, x2: Any, result: Any) -> Any:
    """The gradient of :func:`euclidean_dist` in ``x1``."""
    share = F.drop(grad / result, result == 0)
    return x1 * F.sum_dim(share, len(share.shape) - 1, True) - F.matmul(share, x2)


op("euclidean_dist(x1, x2)", "EuclideanDistBackward0", kinds="w",
   x1="sum_to(euclidean_grad(g, x1, x2, result), x1_shape)",
   x2="sum_to(euclidean_grad(mT(g), x2, x1, mT(result)), x2_shape)")  # fmt: skip
_BY_PRODUCT: dict[Any, Callable[[int, int], bool]] = {
    None: lambda p, r: p > 25 or r > 25,
    "use_mm_for_euclid_dist_if_necessary": lambda p, r: p > 25 or r > 25,
    "use_mm_for_euclid_dist": lambda p, r: True,
    "donot_use_mm_for_euclid_dist": lambda p, r: False,
}


@public("torch")
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """Distances (..., P, R) in the p-norm between the vectors (..., P, M) and (..., R, M)."""
    if compute_mode not in _BY_PRODUCT:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise shape_error(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
        if x.dtype.kind != "f":
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {scalar_type(x.dtype)}")
    if x1.shape[-1] != x2.shape[-1]:
        raise shape_error(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if x1.dtype != x2.dtype:
        raise RuntimeError(f"expected scalar type {scalar_type(x1.dtype)} but found {scalar_type(x2.dtype)}")
    rows, columns = x1.shape[-2], x2.shape[-2]
    if p == 2 and x1.numel() and x2.numel() and _BY_PRODUCT[compute_mode](rows, columns):
        found: Tensor = OPS["euclidean_dist"](x1, x2)
        return found.view(found.shape)
    return OPS["cdist_raw"](x1, x2, float(p))


# ----- the bilinear form -----


@public("torch nn.functional")
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1 @ weight[o] @ input2 + bias[o]`` for every o: inputs (..., I) and (..., J), weight (O, I, J), bias (O,)."""
    _check_bilinear(input1, input2, weight, bias)
    outputs, i, j = weight.shape
    a, b = input1.contiguous().view(-1, i), input2.contiguous().view(-1, j)
    half = matmul(a, weight.permute(1, 0, 2).reshape(i, outputs * j)).view(a.shape[0], outputs, j)
    out = (half * b.unsqueeze(1)).sum(2).to(half.dtype).view(*input1.shape[:-1], outputs)
    return out if bias is None else out + bias


def _check_bilinear(x1: Tensor, x2: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    if x1.ndim != x2.ndim:
        raise shape_error(f"bilinear(): input dimensions do not match: got {x1.ndim} and {x2.ndim}")
    for i, (a, b) in enumerate(zip(x1.shape[:-1], x2.shape[:-1], strict=True)):
        if a != b:
            raise shape_error(f"bilinear(): input batch dimensions do not match at dim {i}: got {a} and {b}")
    for k, x in ((1, x1), (2, x2)):
        if size_at(weight, k) != size_at(x, -1):
            raise shape_error(
                f"bilinear(): input{k} size does not match weight size: got {x.shape[-1]} but expected {weight.shape[k]}"
            )
    if bias is not None and size_at(bias, 0) != weight.shape[0]:
        raise shape_error(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {weight.shape[0]}"
        )
