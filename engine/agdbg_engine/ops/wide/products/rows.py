"""Products of vectors and matrices beside the plain ones: added to something, outer, inner, Kronecker, crosswise."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ....device import array_module, owner
from ....dtype import cpp_type, promote_types, scalar_type
from ....errors import raise_if
from ....tensor import Tensor, wrap
from ... import _generated as g
from ... import matrix
from ...explain import not_a_tensor, product_error, shape_error, size_at
from ...inplace_errors import other_size
from ...kernels_reduce import rounded_once
from ...refuse import refuse_product
from ...shape import one_dim, reshape
from ..declare import INPLACE, formula, in_both, kernel, op, public

# ----- a multiple of something plus a multiple of a product -----


@formula
def times(F: Any, x: Any, factor: Any) -> Any:
    """``x * factor``."""
    return x if type(factor) is not complex and factor == 1 else x * factor


@formula
def times_conj(F: Any, x: Any, factor: Any) -> Any:
    """``x`` times the conjugate of the number ``factor``."""
    return times(F, x, factor.conjugate())


def _added(x: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """``beta * x + alpha * product``; of ``x`` only its shape counts when ``beta`` is 0."""
    if alpha != 1:
        product = product * _fit(alpha, product)
    if beta == 0:
        return np.broadcast_to(product, np.broadcast_shapes(x.shape, product.shape)).copy()
    return (x if beta == 1 else x * _fit(beta, x)) + product


def _fit(factor: Any, x: Any) -> Any:
    return int(factor) if x.dtype.kind in "iu" else factor


@kernel
@rounded_once
def addmm_raw(x: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
    """``beta * x + alpha * a @ b``."""
    return _added(x, a.dot(b), beta, alpha)


@kernel
@rounded_once
def addmv_raw(x: Any, a: Any, v: Any, beta: Any, alpha: Any) -> Any:
    """``beta * x + alpha * a @ v``."""
    return _added(x, a.dot(v), beta, alpha)


@kernel
@rounded_once
def addr_raw(x: Any, u: Any, v: Any, beta: Any, alpha: Any) -> Any:
    """``beta * x + alpha * u v^T``."""
    return _added(x, u[:, None] * v, beta, alpha)


@kernel
@rounded_once
def baddbmm_raw(x: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
    """``beta * x + alpha * a @ b`` of batches."""
    return _added(x, np.matmul(a, b), beta, alpha)


@kernel
@rounded_once
def addbmm_raw(x: Any, a: Any, b: Any, beta: Any, alpha: Any) -> Any:
    """``beta * x`` plus ``alpha`` times the sum of the products of a batch: one product of long rows and columns."""
    n, k = a.shape[0] * a.shape[2], (a.shape[1], b.shape[2])
    return _added(x, np.dot(a.transpose(1, 0, 2).reshape(k[0], n), b.reshape(n, k[1])), beta, alpha)


_SELF = "sum_to(times_conj(g, beta), self_shape)"
_SELF_T = "times(self_t, beta)"

ADDMM = op("addmm_raw(self, mat1, mat2, beta, alpha)", "AddmmBackward0", self=_SELF,
   mat1="times_conj(mm(g, t(mat2)), alpha)", mat2="times_conj(mm(t(mat1), g), alpha)",
   jvp=f"{_SELF_T} + times(mm(mat1_t, mat2) + mm(mat1, mat2_t), alpha)")  # fmt: skip
ADDMV = op("addmv_raw(self, mat, vec, beta, alpha)", "AddmvBackward0", self=_SELF,
   mat="times_conj(ger(g, vec), alpha)", vec="times_conj(mv(t(mat), g), alpha)",
   jvp=f"{_SELF_T} + times(mv(mat_t, vec) + mv(mat, vec_t), alpha)")  # fmt: skip
ADDR = op("addr_raw(self, vec1, vec2, beta, alpha)", "AddrBackward0", self=_SELF,
   vec1="times_conj(mv(g, vec2), alpha)", vec2="times_conj(mv(t(g), vec1), alpha)",
   jvp=f"{_SELF_T} + times(ger(vec1_t, vec2) + ger(vec1, vec2_t), alpha)")  # fmt: skip
BADDBMM = op("baddbmm_raw(self, batch1, batch2, beta, alpha)", "BaddbmmBackward0", self=_SELF,
   batch1="times_conj(bmm(g, mT(batch2)), alpha)", batch2="times_conj(bmm(mT(batch1), g), alpha)",
   jvp=f"{_SELF_T} + times(bmm(batch1_t, batch2) + bmm(batch1, batch2_t), alpha)")  # fmt: skip
ADDBMM = op("addbmm_raw(self, batch1, batch2, beta, alpha)", "AddbmmBackward0", self=_SELF,
   batch1="times_conj(bmm(repeated(g, batch2_shape), mT(batch2)), alpha)",
   batch2="times_conj(bmm(mT(batch1), repeated(g, batch1_shape)), alpha)",
   jvp=f"{_SELF_T} + times(sum_dim(bmm(batch1_t, batch2) + bmm(batch1, batch2_t), 0, False), alpha)")  # fmt: skip


@formula
def repeated(F: Any, g: Any, shape: Any) -> Any:
    """A matrix for every element of a batch."""
    return F.expand(g, (shape[0], *g.shape))


# ----- their functions -----


def _factors(x: Tensor, beta: Any, alpha: Any) -> None:
    """Refuse complex numbers for real tensors; fractions are cut off for integers, as in PyTorch."""
    if x._a.dtype.kind != "c" and (isinstance(beta, complex) or isinstance(alpha, complex)):
        raise RuntimeError(f"value cannot be converted to type {cpp_type(x._a.dtype)} without overflow")


def _no_bools(op_name: str, a: Tensor, b: Tensor) -> None:
    if a._a.dtype.kind == "b":
        refuse_product(op_name, a._a, b._a)


def _tensors(op_name: str, **tensors: Any) -> None:
    for position, (name, value) in enumerate(tensors.items(), 1):
        if not isinstance(value, Tensor):
            raise not_a_tensor(op_name, "input" if name == "self" else name, value, position)


def _onto(x: Tensor, shape: tuple[int, ...]) -> None:
    from ...explain import expand_error

    raise_if(expand_error(x.dtype, x.shape, shape))


def _same(x: Tensor, *others: Tensor) -> None:
    for other in others:
        if other._a.dtype != x._a.dtype:
            a, b = scalar_type(x._a.dtype), scalar_type(other._a.dtype)
            raise RuntimeError(f"expected scalar type {a} but found {b}")


def addmm_scaled(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Any, alpha: Any) -> Tensor:
    """``beta * self + alpha * mat1 @ mat2``, the shapes checked before."""
    _factors(self, beta, alpha)
    _no_bools("addmm", mat1, mat2)
    x: Tensor = ADDMM(self, mat1, mat2, beta, alpha)
    return x


def _addmm_written(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """What ``addmm_`` writes: PyTorch looks at the sizes before it expands."""
    if isinstance(mat1, Tensor) and isinstance(mat2, Tensor) and mat1.ndim == mat2.ndim == 2:
        raise_if(product_error(mat1.shape, mat2.shape))
        matrix.check_dtypes(self, mat1, mat2)
        shape = (mat1.shape[0], mat2.shape[1])
        if self.shape != shape:
            raise other_size(self, shape)
    return matrix.addmm(self, mat1, mat2, beta=beta, alpha=alpha)


_addmm_written.__name__ = _addmm_written.__qualname__ = "addmm"
INPLACE["addmm_"] = _addmm_written


@public("torch Tensor", out=True, inplace=True)
def addmv(self: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * self + alpha * mat @ vec``."""
    _tensors("addmv", self=self, mat=mat, vec=vec)
    if mat.ndim != 2 or vec.ndim != 1 or self.ndim > 1:
        raise shape_error(f"vector + matrix @ vector expected, got {self.ndim}, {mat.ndim}, {vec.ndim}")
    if mat.shape[1] != vec.shape[0] or (self.ndim and self.shape[0] not in (1, mat.shape[0])):
        n = size_at(self, 0)
        raise shape_error(f"size mismatch, got input ({n}), mat ({mat.shape[0]}x{mat.shape[1]}), vec ({vec.shape[0]})")
    if not self.dtype == mat.dtype == vec.dtype:
        kinds = ", ".join(scalar_type(x.dtype) for x in (self, mat))
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {kinds}, and {scalar_type(vec.dtype)}"
        )
    _factors(self, beta, alpha)
    _no_bools("addmv", mat, vec)
    x: Tensor = ADDMV(self, mat, vec, beta, alpha)
    return x


@public("torch Tensor", out=True)
def addr(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * self + alpha * vec1 vec2^T``."""
    _tensors("addr", self=self, vec1=vec1, vec2=vec2)
    for name, v in (("vec1", vec1), ("vec2", vec2)):
        if v.ndim != 1:
            raise shape_error(f"addr: Expected 1-D argument {name}, but got {v.ndim}-D")
    _onto(self, (vec1.shape[0], vec2.shape[0]))
    dtype = functools.reduce(promote_types, (self.dtype, vec1.dtype, vec2.dtype))
    for name, value in (("beta", beta), ("alpha", alpha)):
        if dtype.kind in "biu" and isinstance(value, float | complex):
            raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")
    if dtype == np.bool_:
        beta, alpha = bool(beta), bool(alpha)
    x: Tensor = ADDR(*(t if t.dtype == dtype else t.to(dtype) for t in (self, vec1, vec2)), beta, alpha)
    return x


def _addr_written(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """What ``addr_`` writes: PyTorch wants all of the matrix to be there."""
    if isinstance(vec1, Tensor) and isinstance(vec2, Tensor) and vec1.ndim == vec2.ndim == 1:
        if self.ndim != 2:
            raise shape_error(f"2D tensor expected, got {self.ndim}D tensor for input")
        if self.shape != (*vec1.shape, *vec2.shape):
            sizes = ", ".join(f"{name}: {list(t.shape)}" for name, t in (("input", self), ("v1", vec1), ("v2", vec2)))
            raise shape_error(f"size mismatch, {sizes}")
    return addr(self, vec1, vec2, beta=beta, alpha=alpha)


_addr_written.__name__ = _addr_written.__qualname__ = "addr"
INPLACE["addr_"] = _addr_written


@public("torch Tensor", out=True, inplace=True)
def baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * self + alpha * batch1 @ batch2`` of two batches of matrices, pairwise."""
    _tensors("baddbmm", self=self, batch1=batch1, batch2=batch2)
    _onto(self, (size_at(batch1, 0), size_at(batch1, 1), size_at(batch2, 2)))
    _batches(batch1, batch2)
    _same(self, batch1, batch2)
    _factors(self, beta, alpha)
    _no_bools("baddbmm", batch1, batch2)
    x: Tensor = BADDBMM(self, batch1, batch2, beta, alpha)
    return x


@public("torch Tensor", out=True, inplace=True)
def addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * self`` plus ``alpha`` times the sum of the products of two batches of matrices."""
    _tensors("addbmm", self=self, batch1=batch1, batch2=batch2)
    _onto(self, (size_at(batch1, 1), size_at(batch2, 2)))
    if batch1.ndim == batch2.ndim == 3:
        (n, *rows), (m, *columns) = batch1.shape, batch2.shape
        if n != m:
            raise shape_error(f"batch1 and batch2 must have same number of batches, got {n} and {m}")
        if rows[1] != columns[0]:
            raise shape_error(f"Incompatible matrix sizes for bmm ({rows[0]}x{rows[1]} and {columns[0]}x{columns[1]})")
    _batches(batch1, batch2)
    if not self.dtype == batch1.dtype == batch2.dtype:
        a, b = scalar_type(batch1.dtype), scalar_type((batch2 if batch1.dtype == self.dtype else self).dtype)
        raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {a} and {b}")
    _factors(self, beta, alpha)
    _no_bools("addbmm", batch1, batch2)
    x: Tensor = ADDBMM(self, batch1, batch2, beta, alpha)
    return x


def _batches(batch1: Tensor, batch2: Tensor) -> None:
    for i, t in enumerate((batch1, batch2), 1):
        if t.ndim != 3:
            raise shape_error(f"batch{i} must be a 3D tensor")
    (n, _, k), (n2, k2, _) = batch1.shape, batch2.shape
    if (n, k) != (n2, k2):
        raise shape_error(
            f"Expected size for first two dimensions of batch2 tensor to be: [{n}, {k}] but got: [{n2}, {k2}]."
        )


# ----- vectors -----

VDOT = op("vdot_raw(self, other)", "VdotBackward0", self="conj_of(g) * other", other="g * self",
   jvp="vdot_raw(self_t, other) + vdot_raw(self, other_t)", holomorphic=False, value=np.vdot)  # fmt: skip


@public("torch Tensor", out=True)
def vdot(self: Tensor, other: Tensor) -> Tensor:
    """Inner product of two vectors, the first conjugated."""
    _tensors("vdot", self=self, other=other)
    if self.ndim != 1 or other.ndim != 1:
        raise shape_error(f"1D tensors expected, but got {self.ndim}D and {other.ndim}D tensors")
    if self.dtype != other.dtype:
        a, b = scalar_type(self.dtype), scalar_type(other.dtype)
        raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {a} and {b}")
    (n,), (m,) = self.shape, other.shape
    if n != m:
        raise shape_error(
            f"inconsistent tensor size, expected tensor [{n}] and src [{m}] to have the same number of elements, but got "
            f"{n} and {m} elements respectively"
        )
    _no_bools("dot", self, other)
    x: Tensor = VDOT(self, other)
    return x


@public("torch Tensor", out=True)
def ger(self: Tensor, vec2: Tensor) -> Tensor:
    """As :func:`outer`."""
    return matrix.outer(self, vec2)


@public("torch Tensor", out=True)
def inner(self: Tensor, other: Tensor) -> Tensor:
    """Sums of products along the last dimension, for all pairs of vectors."""
    _tensors("inner", self=self, other=other)
    if self.ndim == 0 or other.ndim == 0:
        return self * other
    if self.shape[-1] != other.shape[-1]:
        raise shape_error(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(self.shape)} and {list(other.shape)}"
        )
    return tensordot(self, other, ((-1,), (-1,)))


# ----- more dimensions -----


@public("torch")
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Any = None) -> Tensor:
    """Sums of products over pairs of dimensions: the last ``dims`` of one and first of the other, or two lists of them."""
    if out is not None:
        from ...out import into

        x: Tensor = into(tensordot, (a, b, dims), {"out": out})
        return x
    _tensors("tensordot", a=a, b=b)
    pairs = _pairs(a, b, dims)
    if a.dtype != b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    first, second = ([one_dim(x, d) for d in side] for x, side in zip((a, b), pairs, strict=True))
    size, left, right = 1, a, b
    for i, j, *said in zip(first, second, *pairs, strict=True):
        n, m = a.shape[i], b.shape[j]
        if m == 1 != n:
            left = g.sum_dim(left, i, True).to(left.dtype)
        elif n == 1 != m:
            right = g.sum_dim(right, j, True).to(right.dtype)
        elif n != m:
            raise shape_error(
                f"contracted dimensions need to match, but first has size {n} in dim {said[0]} and second has size {m} "
                f"in dim {said[1]}"
            )
        else:
            size *= n
    free = [d for d in range(a.ndim) if d not in first]
    other = [d for d in range(b.ndim) if d not in second]
    sizes = [left.shape[d] for d in free], [right.shape[d] for d in other]
    if a.dtype.kind == b.dtype.kind == "b":
        kernel = "dot" if math.prod(sizes[0]) == math.prod(sizes[1]) == 1 else "addmm_impl_cpu_"
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")
    left = reshape(g.permute_to(left, (*free, *first)), (math.prod(sizes[0]), size))
    right = reshape(g.permute_to(right, (*second, *other)), (size, math.prod(sizes[1])))
    return reshape(matrix.mm(left, right), (*sizes[0], *sizes[1]))


def _pairs(a: Tensor, b: Tensor, dims: Any) -> tuple[list[int], list[int]]:
    """The dimensions of each that are summed over together, as they were given."""
    if isinstance(dims, Tensor):
        dims = dims.item() if dims.numel() == 1 else dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims = range(-dims, 0), range(dims)
    first, second = ([d] if isinstance(d, int) else list(d) for d in dims)
    if len(first) != len(second):
        raise shape_error("both dimension lists should have same length")
    return first, second


def _of_its_memory(t: Tensor, shape: tuple[int, ...]) -> Any:
    """``t`` in another shape: no view for PyTorch, but where it has the memory of ``t`` a write to that is noticed here."""
    made = g.unsafe_view(t, shape)
    if owner(made._a) is owner(t._a):
        made._storage = t._shared_storage()
    return made


@public("torch Tensor", out=True)
def kron(self: Tensor, other: Tensor) -> Tensor:
    """Kronecker product: every element of ``self`` times all of ``other``, in blocks."""
    _tensors("kron", self=self, other=other)
    n = max(self.ndim, other.ndim)
    a, b = ((1,) * (n - t.ndim) + t.shape for t in (self, other))
    left = _of_its_memory(self, tuple(s for x in a for s in (x, 1)))
    right = _of_its_memory(other, tuple(s for y in b for s in (1, y)))
    return g.unsafe_view(left * right, tuple(x * y for x, y in zip(a, b, strict=True)))


def _trace_grad(g: Any, shape: Any) -> Any:
    out = array_module(g).zeros(shape, g.dtype)
    np.einsum("ii->i", out[: min(shape), : min(shape)])[...] = g
    return out


def _trace_grad_recorded(x: Tensor, shape: Any) -> Tensor:
    from ... import graph

    return graph.keep(x.expand(shape), wrap(array_module(x._a).eye(*shape, dtype=bool)))


def _trace(x: Any) -> Any:
    return np.trace(x, dtype=np.int64 if x.dtype.kind in "iu" else None)


in_both("trace_matrix", _trace_grad, _trace_grad_recorded)
TRACE = op("trace_raw(self)", "TraceBackward0", self="trace_matrix(g, self_shape)", jvp="linear", value=_trace)


@public("torch Tensor")
def trace(self: Tensor) -> Tensor:
    """Sum of the diagonal of a matrix."""
    if self.ndim != 2:
        raise shape_error(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    if self.dtype.kind == "b":
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    x: Tensor = TRACE(self)
    return x
