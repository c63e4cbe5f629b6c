"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....backends import on_host
from ....dtype import scalar_type
from ....tensor import Tensor
from ... import _generated as g
from ...explain import shape_error
from ...formulas import expand_dims, inner
from ...shape import one_dim, some_dims
from ..declare import formula, op, public
from .checks import floating, is_tensor, matrices
from .svd import svdvals

Dims = int | tuple[int, ...] | list[int] | None

# ----- of vectors -----


def _norm(x: Any, ord: float, dim: Any, keepdim: bool) -> Any:
    if x.dtype.itemsize == 2:  # powers of half precision are computed in single
        return _norm(x.astype(np.float32), ord, dim, keepdim).astype(x.dtype)
    axes = dim if isinstance(dim, int) else tuple(dim) or None
    size = np.abs(x)
    if ord == math.inf:
        return size.max(axes, keepdims=keepdim, initial=0) if on_host(x) else size.max(axes, keepdims=keepdim)
    if ord == -math.inf:
        return size.min(axes, keepdims=keepdim)
    if ord == 0:
        return (size != 0).sum(axes, dtype=size.dtype, keepdims=keepdim)
    if ord == 1:
        return size.sum(axes, keepdims=keepdim)
    if ord == 2:
        return np.sqrt(np.square(size).sum(axes, keepdims=keepdim))
    return np.power(np.power(size, ord).sum(axes, keepdims=keepdim), 1 / ord).astype(size.dtype, copy=False)


VECTOR = op("vector_norm_raw(self, ord, dim, keepdim)", "LinalgVectorNormBackward0",
   self="vector_norm_grad(g, self, result, ord, dim, keepdim)",
   jvp="vector_norm_tangent(self_t, self, result, ord, dim, keepdim)", holomorphic=False, value=_norm)  # fmt: skip


@formula
def vector_norm_grad(F: Any, g: Any, x: Any, norm: Any, ord: float, dim: Any, keepdim: bool) -> Any:
    """Gradient of a norm; 0 where that is 0, shared among the largest (smallest) elements; none for a count."""
    if ord == 0:
        return None
    g, norm = (expand_dims(F, y, x.shape, dim, keepdim) for y in (g, norm))
    if ord == 1:
        return g * F.sgn(x)
    if ord == 2:
        return F.drop(x / norm, norm == 0) * g
    size = F.abs(x)
    if math.isinf(ord):
        return F.sgn(x) * (_largest(F, x, size, norm, dim) * g)
    if ord < 1:
        power = F.drop(F.pow(size, ord - 1), size == 0)
        return F.sgn(x) * power * (g * F.pow(norm, 1 - ord))
    if ord < 2:
        return F.sgn(x) * F.pow(size, ord - 1) * F.drop(g / F.pow(norm, ord - 1), norm == 0)
    return x * F.pow(size, ord - 2) * F.drop(g / F.pow(norm, ord - 1), norm == 0)


def _largest(F: Any, x: Any, size: Any, norm: Any, dim: Any) -> Any:
    """The share of every element in the extreme one: NaNs where that is NaN."""
    equal = (size == norm) | ((size != size) & (norm != norm))
    mask = F.to_copy(equal, size.dtype)
    return mask / F.sum_dim(mask, dim, True)


@formula
def vector_norm_tangent(F: Any, x_t: Any, x: Any, norm: Any, ord: float, dim: Any, keepdim: bool) -> Any:
    """Tangent of a norm."""
    if ord == 0:
        return F.zeros_of(norm.shape, norm)
    if ord == 1:
        return F.sum_dim(inner(F, x_t, F.sgn(x)), dim, keepdim)
    if ord == 2:
        return F.drop(F.sum_dim(inner(F, x_t, x), dim, keepdim) / norm, norm == 0)
    size = F.abs(x)
    if math.isinf(ord):
        share = _largest(F, x, size, expand_dims(F, norm, x.shape, dim, keepdim), dim)
        return F.sum_dim(inner(F, x_t, F.sgn(x)) * share, dim, keepdim)
    if ord < 1:
        power = F.drop(F.pow(size, ord - 1), size == 0)
        return F.sum_dim(inner(F, x_t, F.sgn(x)) * power, dim, keepdim) * F.pow(norm, 1 - ord)
    power = F.pow(size, ord - 1) if ord < 2 else F.pow(size, ord - 2)
    along = inner(F, x_t, F.sgn(x) if ord < 2 else x)
    return F.drop(F.sum_dim(along * power, dim, keepdim) / F.pow(norm, ord - 1), norm == 0)


def _in_dtype(op_name: str, x: Tensor, dtype: Any) -> Tensor:
    if dtype is None:
        return x
    dtype = np.dtype(dtype)
    if dtype.kind not in "fc":
        raise RuntimeError(f"{op_name}: dtype should be floating point or complex, but got {scalar_type(dtype)}")
    if (x._a.dtype.kind == "c") != (dtype.kind == "c"):
        kind = "complex" if x._a.dtype.kind == "c" else "real"
        raise RuntimeError(f"{op_name}: dtype should be {kind} for {kind} inputs, but got {scalar_type(dtype)}")
    if dtype.itemsize < x._a.dtype.itemsize:
        raise RuntimeError(
            f"{op_name}: the dtype of the input ({scalar_type(x._a.dtype)}) should be convertible without narrowing to the "
            f"specified dtype ({scalar_type(dtype)})"
        )
    return x if x._a.dtype == dtype else x.to(dtype)


@public("linalg", out=True)
def vector_norm(x: Tensor, ord: Any = 2, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """``sum(abs(x) ** ord) ** (1 / ord)`` of all elements or along ``dim``; infinite orders are the extremes, 0 counts."""
    is_tensor("linalg.vector_norm", "x", x)
    floating("linalg.vector_norm", x, low=True)
    if isinstance(ord, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    if not isinstance(ord, int | float):
        raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {type(ord).__name__}")
    x = _in_dtype("linalg.vector_norm", x, dtype)
    dims = some_dims(x, dim)
    _check_empty(x, ord, dim, dims)
    keep = keepdim and x.ndim > 0
    if ord == 2 and x._a.dtype.itemsize > 2:
        return g.norm_dim(x, dims, keep)  # the hot one has a generated form
    found: Tensor = VECTOR(x, float(ord), dims, keep)
    return found


def _check_empty(x: Tensor, ord: float, dim: Dims, dims: Any) -> None:
    if x._a.size or not (ord < 0 or ord == math.inf):
        return
    if dims == ():
        if x._a.size == 0:
            raise shape_error(
                f"linalg.vector_norm cannot compute the {ord:g} norm on an empty tensor because the operation does not have an "
                "identity"
            )
        return
    for d in (dims,) if isinstance(dims, int) else dims:
        if x.shape[d] == 0:
            raise shape_error(
                f"linalg.vector_norm cannot compute the {ord:g} norm on the dimension {d} because this dimension is empty and "
                "the operation does not have an identity"
            )


# ----- of matrices -----


@public("linalg", out=True)
def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """A norm of matrices: ``fro``, ``nuc``, or 1, 2, inf and their negatives."""
    is_tensor("linalg.matrix_norm", "A", A)
    matrices("linalg.matrix_norm", A)
    floating("linalg.matrix_norm", A, low=True)
    if not isinstance(dim, tuple | list) or len(dim) != 2:
        raise shape_error(f"linalg.matrix_norm: dim must be a 2-tuple. Got {_listed(dim)}")
    dims = tuple(d + A.ndim if d < 0 else d for d in dim)
    if dims[0] == dims[1]:
        raise shape_error(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    some_dims(A, dims)
    if isinstance(ord, str):
        if ord not in ("fro", "nuc"):
            raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
        if ord == "fro":
            return vector_norm(A, 2, dims, keepdim, dtype=dtype)
        return _singular(_in_dtype("linalg.matrix_norm", A, dtype), dims, keepdim, "nuc")
    if abs(ord) not in (1, 2, math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if abs(ord) == 2:
        return _singular(_in_dtype("linalg.matrix_norm", A, dtype), dims, keepdim, ord)
    first, second = dims if abs(ord) == 1 else dims[::-1]
    sums = vector_norm(A, 1, first, keepdim, dtype=dtype)
    if not keepdim and first < second:
        second -= 1
    return _extreme(sums, second, keepdim, ord)


def _extreme(x: Tensor, dim: int, keepdim: bool, ord: Any) -> Tensor:
    """The largest entry along ``dim``, for a negative order the smallest; 0 is the largest of none."""
    dim = one_dim(x, dim)
    if ord > 0 and x.shape[dim] == 0:
        shape = tuple(1 if d == dim else s for d, s in enumerate(x.shape) if keepdim or d != dim)
        return x.new_zeros(shape)
    found: Tensor = (x.amax if ord > 0 else x.amin)(dim, keepdim)
    return found


def _listed(dim: Any) -> str:
    return " ".join(map(str, dim)) if isinstance(dim, tuple | list) else str(dim)


def _singular(x: Tensor, dims: tuple[int, ...], keepdim: bool, ord: Any) -> Tensor:
    """A norm that is one of the singular values."""
    floating("linalg.matrix_norm", x)
    rest = tuple(d for d in range(x.ndim) if d not in dims)
    s = svdvals(g.permute_to(x, (*rest, *dims)))
    out: Tensor = s.sum(-1, keepdim) if ord == "nuc" else _extreme(s, -1, keepdim, ord)
    if keepdim:
        out = g.unsqueeze(out, -1)
        order = (*rest, *dims)
        out = g.permute_to(out, tuple(sorted(range(x.ndim), key=order.__getitem__)))
    return out


@public("linalg.norm", out=True)
def linalg_norm(A: Tensor, ord: Any = None, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Norm of all elements (without ``ord``), of vectors along one ``dim`` or of matrices in two."""
    is_tensor("linalg.norm", "A", A)
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if dim is not None:
        dims = (dim,) if isinstance(dim, int) else tuple(dim)
        if len(dims) not in (1, 2):
            raise shape_error(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    elif A.ndim not in (1, 2):
        raise shape_error(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D."
        )
    else:
        dims = tuple(range(A.ndim))
    if len(dims) == 2:
        return matrix_norm(A, ord, dims, keepdim, dtype=dtype)
    if isinstance(ord, str):
        return matrix_norm(A, ord, dims, keepdim, dtype=dtype)
    return vector_norm(A, ord, dims, keepdim, dtype=dtype)


@public("torch Tensor")
def norm(
    self: Tensor, p: Any = "fro", dim: Dims = None, keepdim: bool = False, dtype: Any = None, *, out: Any = None
) -> Tensor:
    """The older form of :func:`linalg.norm`: ``p`` is ``fro``, ``nuc`` or a number, and norms are those of vectors but ``nuc``."""
    if out is not None:
        from ...out import into

        x: Tensor = into(norm, (self, p, dim, keepdim, dtype), {"out": out})
        return x
    if p == "nuc":
        if dim is None:
            return matrix_norm(self, "nuc", keepdim=keepdim, dtype=dtype)
        return matrix_norm(self, "nuc", dim, keepdim, dtype=dtype)
    if isinstance(p, str):
        if p != "fro":
            return matrix_norm(self, p, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
        return vector_norm(self, 2, dim, keepdim, dtype=dtype)
    return vector_norm(self, 2 if p is None else p, dim, keepdim, dtype=dtype)


@public("torch")
def nuclear_norm(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Sum of the singular values of matrices."""
    if dim is None:
        if self.ndim != 2:
            raise shape_error(
                f"Expected a tensor with 2 dimensions, but got a tensor with {self.ndim} dimensions instead."
            )
        dim = (0, 1)
    return matrix_norm(self, "nuc", dim, keepdim)


# ----- condition -----


@public("linalg", out=True)
def cond(A: Tensor, p: Any = None) -> Tensor:
    """Condition number of matrices in a norm ``p`` (None: 2); infinite for singular ones."""
    from ... import ROWS
    from .solve import inv_ex

    is_tensor("linalg.cond", "A", A)
    matrices("linalg.cond", A)
    floating("linalg.svd", A)
    if A._a.size == 0 and (p not in ("fro", "nuc") or A.shape[-1] == A.shape[-2]):
        return A.new_zeros(A.shape[:-2]) if A._a.dtype.kind == "f" else A.abs().new_zeros(A.shape[:-2])
    if p is None or p in (2, -2):
        s = svdvals(A)
        first, last = g.slice(s, -1, 0, 1), g.slice(s, -1, -1, None)
        ratio = last / first if p == -2 else first / last
        return g.squeeze_dim(ratio, ratio.ndim - 1)
    if A.shape[-1] != A.shape[-2]:
        raise shape_error(
            f"linalg.cond: A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} matrices"
        )
    inverse, info = inv_ex(A)
    inverse = inverse.masked_fill((info > 0)[..., None, None], 0 if p == "nuc" else math.inf)
    product = matrix_norm(A, p) * matrix_norm(inverse, p)
    if p == "nuc":
        return product.masked_fill(info > 0, math.inf)
    found: Tensor = ROWS["nan_to_num"](product, math.inf, math.inf, -math.inf) if "nan_to_num" in ROWS else product
    return found
