"""Chains and powers of matrices, products of vectors, and systems whose unknowns have several dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....device import array_module
from ....dtype import cpp_type, scalar_type
from ....errors import raise_if
from ....tensor import Tensor, wrap
from ... import _generated as g
from ... import matrix
from ...explain import shape_error
from ...kernel_names import takes
from ...lists import cat
from ...mixed_devices import together
from ...shape import one_dim, reshape
from ..declare import kernel, op, public
from ..products.rows import vdot
from .checks import SINGULAR, failures, floating, is_tensor, square
from .solve import inv, inv_ex, solve

# ----- chains -----


@public("linalg", out=True)
def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Product of two or more matrices, in the order that costs least; the first and last may be vectors."""
    if not isinstance(tensors, tuple | list):
        raise TypeError(
            f"linalg_multi_dot(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}"
        )
    n = len(tensors)
    if n < 2:
        raise shape_error(f"multi_dot(): expected at least 2 tensors but got {n}")
    ends = []
    for i, which in ((0, "first"), (n - 1, "last")):
        if tensors[i].ndim not in (1, 2):
            raise shape_error(f"multi_dot(): the {which} tensor must be 1D or 2D but got {tensors[i].ndim}D")
        ends.append(tensors[i])
    first = g.unsqueeze(ends[0], 0) if ends[0].ndim == 1 else ends[0]
    last = g.unsqueeze(ends[1], 1) if ends[1].ndim == 1 else ends[1]
    shape = (ends[0].shape[:1] if ends[0].ndim == 2 else ()) + (ends[1].shape[1:] if ends[1].ndim == 2 else ())
    chain = [first, *tensors[1:-1], last]
    for i, t in enumerate(chain):
        if t.ndim != 2:
            raise shape_error(f"multi_dot(): tensor {i} must be 2D but got {t.ndim}D")
        if t.dtype != chain[0].dtype:
            raise RuntimeError(
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {cpp_type(chain[0].dtype)} and "
                f"tensor {i} {cpp_type(t.dtype)}"
            )
        where = f"all tensors must be on the same device but tensor 0 is on {{0}} and tensor {i} on {{1}}"
        together(chain[0], t, f"multi_dot(): {where}")
        if i and chain[i - 1].shape[1] != t.shape[0]:
            raise shape_error(
                f"multi_dot(): tensors {i - 1} and {i} with shapes {list(chain[i - 1].shape)} and {list(t.shape)} cannot be "
                "multiplied"
            )
    return g.view(_product(chain, _best([*(t.shape[0] for t in chain), chain[-1].shape[1]]), 0, n - 1), shape)


def _best(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split every part of a chain of matrices of these sizes."""
    n = len(sizes) - 1
    cost, split = {(i, i): 0 for i in range(n)}, {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            found = {k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)}
            split[i, j] = min(found, key=found.__getitem__)
            cost[i, j] = found[split[i, j]]
    return split


def _product(chain: list[Tensor], split: dict[tuple[int, int], int], i: int, j: int) -> Tensor:
    if i == j:
        return chain[i]
    k = split[i, j]
    return matrix.mm(_product(chain, split, i, k), _product(chain, split, k + 1, j))


@public("torch")
def chain_matmul(*matrices: Tensor, out: Any = None) -> Tensor:
    """The older form of :func:`linalg.multi_dot`, for matrices only."""
    for t in matrices:
        if t.ndim != 2:
            raise shape_error(f"Tensor dimension is {t.ndim}, expected 2 instead.")
    if not matrices:
        raise shape_error("chain_matmul(): Expected one or more matrices")
    if len(matrices) == 1:
        return g.clone(matrices[0])
    if out is None:
        return multi_dot(matrices)
    from ...out import into

    x: Tensor = into(multi_dot, (matrices,), {"out": out}, "chain_matmul")
    return x


@public("linalg.matrix_power", out=True)
def linalg_matrix_power(A: Tensor, n: int) -> Tensor:
    """The ``n``-th power of square matrices, by squaring; of the inverse for a negative ``n``."""
    is_tensor("linalg.matrix_power", "A", A)
    square("linalg.matrix_power", A)
    if not isinstance(n, int):
        raise TypeError(f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}")
    if n == 0:
        return g.clone(A).copy_(wrap(array_module(A._a).eye(A.shape[-1], dtype=A._a.dtype)))
    if n == 1:
        return g.clone(A)
    if n < 0:
        A, n = inv(A), -n
    x, power = None, A
    if n == 3:
        return matrix.matmul(matrix.matmul(A, A), A)
    while True:
        n, odd = divmod(n, 2)
        if odd:
            x = power if x is None else matrix.matmul(x, power)
        if n == 0:
            return x  # type: ignore[return-value]  # there was a bit
        power = matrix.matmul(power, power)


@public("torch Tensor", out=True)
def matrix_power(self: Tensor, n: int) -> Tensor:
    """As :func:`linalg.matrix_power`."""
    return linalg_matrix_power(self, n)


@public("linalg.matmul", out=True)
def linalg_matmul(input: Tensor, other: Tensor) -> Tensor:
    """As :func:`matmul`."""
    x: Tensor = matrix.matmul(input, other)
    return x


# ----- products of vectors -----


@public("linalg", out=True)
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Inner products along ``dim``, the first vectors conjugated."""
    is_tensor("linalg.vecdot", "x", x)
    is_tensor("linalg.vecdot", "y", y, 2)
    floating("linalg.vecdot", x, low=True)
    if x.dtype != y.dtype:
        kinds = [scalar_type(t.dtype) for t in (x, y)]
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {kinds[0]} and y of type {kinds[1]} "
            "instead"
        )
    if x.ndim == y.ndim == 1:
        one_dim(x, dim)
        return vdot(x, y)
    product = x.conj() * y
    return product.sum(one_dim(product, dim))


@kernel
def cross_raw(x: Any, y: Any, dim: int) -> Any:
    """Vector products along ``dim``, counted from the last."""
    shape = np.broadcast_shapes(x.shape, y.shape)
    out = array_module(x).empty(shape, x.dtype)
    after = (slice(None),) * (-1 - dim)
    for i in range(3):
        j, k = (..., (i + 1) % 3, *after), (..., (i + 2) % 3, *after)
        target = out[(..., i, *after)]
        np.multiply(x[j], y[k], out=target)
        target -= x[k] * y[j]
    return out


CROSS = op("cross_raw(self, other, dim)", "LinalgCrossBackward0",
   self="sum_to(cross_raw(conj_of(other), g, dim), self_shape)", other="sum_to(cross_raw(g, conj_of(self), dim), other_shape)",
   jvp="cross_raw(self_t, other, dim) + cross_raw(self, other_t, dim)", holomorphic=False)  # fmt: skip


@public("linalg.cross", out=True)
def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Vector products of vectors of 3 along ``dim``."""
    is_tensor("linalg.cross", "input", input)
    is_tensor("linalg.cross", "other", other, 2)
    if input.ndim != other.ndim:
        raise shape_error("linalg.cross: inputs must have the same number of dimensions.")
    sizes = [t.shape[one_dim(t, dim)] if t.ndim else 1 for t in (input, other)]
    if sizes != [3, 3]:
        raise shape_error(f"linalg.cross: inputs dimension {dim} must have length 3. Got {sizes[0]} and {sizes[1]}")
    _broadcast(input, other)
    if input.dtype != other.dtype:
        raise RuntimeError(f"expected scalar type {scalar_type(input.dtype)} but found {scalar_type(other.dtype)}")
    if input.dtype == np.bool_:
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    x: Tensor = CROSS(input, other, one_dim(input, dim) - input.ndim)
    return x


def _broadcast(a: Tensor, b: Tensor) -> tuple[int, ...]:
    from ...explain import broadcast_error

    raise_if(broadcast_error([a.shape, b.shape]))
    return np.broadcast_shapes(a.shape, b.shape)


@public("torch Tensor", out=True)
def cross(self: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """As :func:`linalg.cross`; without ``dim`` along the first dimension of size 3 of ``self``."""
    if dim is None:
        if 3 not in self.shape:
            raise shape_error("no dimension of size 3 in input")
        dim = self.shape.index(3)
    return linalg_cross(self, other, dim=dim)


@public("linalg.vander")
def linalg_vander(x: Tensor, N: int | None = None) -> Tensor:
    """Powers 0 to ``N - 1`` of every element, in a new last dimension."""
    is_tensor("linalg.vander", "x", x)
    if not takes("wiuc", x._a.dtype):
        raise RuntimeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {scalar_type(x._a.dtype)}"
        )
    if N is None:
        if x.ndim == 0:
            raise shape_error("linalg.vander: N must be given for a 0-d tensor")
        N = x.shape[-1]
    if N < 1:
        raise shape_error("N must be greater than 1.")
    return _vander(x, N)


def _vander(x: Tensor, N: int) -> Tensor:
    t = x if x._a.dtype.kind in "fc" or x._a.dtype == np.int64 else x.to(np.dtype(np.int64))
    t = g.unsqueeze(t, 0) if t.ndim == 0 else t
    ones = wrap(array_module(t._a).ones((*t.shape, 1), t._a.dtype))
    if N == 1:
        return ones
    powers = g.expand(g.unsqueeze(t, t.ndim), (*t.shape, N - 1))
    return cat([ones, powers.cumprod(-1)], -1)


@public("torch")
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Powers of the elements of a vector as columns, from the highest down unless ``increasing``."""
    is_tensor("vander", "x", x)
    if x.ndim != 1:
        raise shape_error("x must be a one-dimensional tensor.")
    n = x.shape[0] if N is None else N
    if n < 0:
        raise shape_error("N must be non-negative.")
    if n == 0:
        return x.new_zeros((x.shape[0], 0))
    found = _vander(x, n)
    return found if increasing else found.flip(-1)


# ----- unknowns of several dimensions -----


@public("linalg", out=True)
def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of ``tensordot(A, x, x.ndim)``, whose result has the first ``ind`` dimensions of A."""
    is_tensor("linalg.tensorinv", "A", A)
    if ind <= 0:
        raise shape_error(f"Expected a strictly positive integer for 'ind', but got {ind}")
    first, last = A.shape[:ind], A.shape[ind:]
    n, m = math.prod(last), math.prod(first)
    if n != m:
        raise shape_error(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{n} != {m}"
        )
    result, info = inv_ex(reshape(A, (m, n)))
    failures("inv", info._a, SINGULAR)
    return reshape(result, (*last, *first))


@public("linalg", out=True)
def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """X with ``tensordot(A, X, X.ndim) = B``; ``dims`` of A are moved to the end first."""
    is_tensor("linalg.tensorsolve", "A", A)
    is_tensor("linalg.tensorsolve", "B", B, 2)
    if dims is not None:
        moved = [one_dim(A, d) for d in dims]
        A = g.permute_to(A, (*(d for d in range(A.ndim) if d not in moved), *moved))
    shape = A.shape[B.ndim :]
    n, m = math.prod(shape), math.prod(B.shape)
    if n != m:
        raise shape_error(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got "
            f"{n} != {m}"
        )
    return reshape(solve(reshape(A, (m, n)), reshape(B, (-1,))), shape)
