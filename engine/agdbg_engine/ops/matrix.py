"""Products of vectors, matrices and batches as users write them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import overrides
from ..dtype import cpp_type, scalar_type
from ..errors import raise_if
from ..layout import steps
from ..overrides import ask_all
from ..tensor import Tensor
from . import _generated as g
from .explain import broadcast_error, expand_error, not_a_tensor, product_error, shape_error
from .shape import contiguous, expand, reshape

__all__ = ["addmm", "bmm", "dot", "matmul", "mm", "mv", "outer"]


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Product of two matrices."""
    asked = overrides.asked_by(input, (mat2,)) if overrides.seen else ()
    if asked:
        return overrides.dispatch(mm, asked, (input, mat2), {})
    _tensors("mm", input, mat2=mat2)
    if input.ndim != 2:
        raise shape_error("self must be a matrix")
    if mat2.ndim != 2:
        raise shape_error("mat2 must be a matrix")
    raise_if(product_error(input.shape, mat2.shape))
    if input.dtype != mat2.dtype:
        a, b = cpp_type(input.dtype), cpp_type(mat2.dtype)
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {a} != {b}")
    return g.mm(input, mat2)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Product of a matrix and a vector."""
    _tensors("mv", input, vec=vec)
    if input.ndim == 0:
        raise shape_error("Dimension specified as 0 but tensor has no dimensions", IndexError)
    if input.ndim != 2 or vec.ndim != 1:
        raise shape_error(f"vector + matrix @ vector expected, got 1, {input.ndim}, {vec.ndim}")
    (n, k), (k2,) = input.shape, vec.shape
    if k != k2:
        raise shape_error(f"size mismatch, got input ({n}), mat ({n}x{k}), vec ({k2})")
    if input.dtype != vec.dtype:
        a, b = scalar_type(input.dtype), scalar_type(vec.dtype)
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {b}, {a}, and {b}")
    return g.mv(input, vec)


def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """Inner product of two vectors."""
    _tensors("dot", input, tensor=tensor)
    if input.ndim != 1 or tensor.ndim != 1:
        raise shape_error(f"1D tensors expected, but got {input.ndim}D and {tensor.ndim}D tensors")
    if input.dtype != tensor.dtype:
        a, b = scalar_type(input.dtype), scalar_type(tensor.dtype)
        raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {a} and {b}")
    (n,), (m,) = input.shape, tensor.shape
    if n != m:
        raise shape_error(
            f"inconsistent tensor size, expected tensor [{n}] and src [{m}] to have the same number of elements, but got "
            f"{n} and {m} elements respectively"
        )
    return g.dot(input, tensor)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Products of two batches of matrices, pairwise."""
    _tensors("bmm", input, mat2=mat2)
    for i, t in enumerate((input, mat2), 1):
        if t.ndim != 3:
            raise shape_error(f"batch{i} must be a 3D tensor")
    (n, _, k), (n2, k2, _) = input.shape, mat2.shape
    if (n, k) != (n2, k2):
        raise shape_error(
            f"Expected size for first two dimensions of batch2 tensor to be: [{n}, {k}] but got: [{n2}, {k2}]."
        )
    if input.dtype != mat2.dtype:
        a, b = scalar_type(input.dtype), scalar_type(mat2.dtype)
        raise RuntimeError(f"expected scalar type {a} but found {b}")
    return g.bmm(input, mat2)


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * mat1 @ mat2``, the first broadcast to the product (and ignored when ``beta`` is 0)."""
    _tensors("addmm", input, mat1=mat1, mat2=mat2)
    for i, t in enumerate((mat1, mat2), 1):
        if t.ndim != 2:
            raise shape_error(f"mat{i} must be a matrix, got {t.ndim}-D tensor")
    raise_if(
        product_error(mat1.shape, mat2.shape) or expand_error(input.dtype, input.shape, (mat1.shape[0], mat2.shape[1]))
    )
    check_dtypes(input, mat1, mat2)
    if beta != 1 or alpha != 1:
        from .wide.products.rows import addmm_scaled

        return addmm_scaled(input, mat1, mat2, beta, alpha)
    return g.addmm(input, mat1, mat2)


def check_dtypes(input: Tensor, mat1: Tensor, mat2: Tensor) -> None:
    """Refuse to add a product to ``input`` where the three have not one dtype."""
    for name, t in (("self", input), ("mat1", mat1)):
        if t.dtype != mat2.dtype:
            a, b = scalar_type(t.dtype), scalar_type(mat2.dtype)
            raise RuntimeError(f"{name} and mat2 must have the same dtype, but got {a} and {b}")


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Every element of one vector times every element of another."""
    _tensors("outer", input, vec2=vec2)
    for name, t in (("self", input), ("vec2", vec2)):
        if t.ndim != 1:
            raise shape_error(f"outer: Expected 1-D argument {name}, but got {t.ndim}-D")
    return g.mul(g.view(input, (input.shape[0], 1)), vec2)


def matmul(input: Tensor, other: Any) -> Any:
    """``input @ other`` for vectors, matrices and batches of matrices, as in PyTorch."""
    asked = overrides.asked_by(input, (other,)) if overrides.seen else ()
    if asked:
        return overrides.dispatch(matmul, asked, (input, other), {})
    if not isinstance(other, Tensor):
        answer = ask_all(matmul, input, other)
        if answer is NotImplemented:
            raise not_a_tensor("matmul", "other", other, 1)  # of the method, as in elementwise
        return answer
    a, b = input.ndim, other.ndim
    if a == 0 or b == 0:
        raise shape_error(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D")
    if a == 1 and b == 1:
        return dot(input, other)
    if a == 2 and b == 1:
        return mv(input, other)
    if a == 2 and b == 2:
        return mm(input, other)
    if a == 1 and b == 2:
        from .wide.shapes.reshaping import squeezed_in_place

        return squeezed_in_place(mm(g.unsqueeze(input, 0), other), 0)
    return _batched(input, other)


def _batched(x: Tensor, y: Tensor) -> Tensor:
    """At least one side has a batch: a batch times one matrix is one big product, else ``bmm`` of the broadcast batches."""
    if x.ndim >= 3 and y.ndim <= 2 and _folds(x, y, x):
        product = mv(_flat(x), y) if y.ndim == 1 else mm(_flat(x), y)
        return g.unsafe_view(product, (*x.shape[:-1], *y.shape[1:]))
    if y.ndim >= 3 and x.ndim <= 2 and _folds(y, x, x):
        return _folded_right(x, y)
    if x.ndim == y.ndim == 3 and x.shape[0] != y.shape[0]:  # a batch of one that needs a gradient is a matrix
        if x.shape[0] == 1 and x.requires_grad:
            return _batched(g.squeeze_dim(x, 0), y)
        if y.shape[0] == 1 and y.requires_grad:
            return _batched(x, g.squeeze_dim(y, 0))
    n = x.shape[-2:-1]
    m = y.shape[-1:] if y.ndim > 1 else ()
    left = g.unsqueeze(x, 0) if x.ndim == 1 else x
    right = g.unsqueeze(y, 1) if y.ndim == 1 else y
    try:
        batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        shapes = [left.shape[:-2], right.shape[:-2]]
        raise broadcast_error(shapes) or shape_error("batches do not broadcast") from None
    return g.unsafe_view(bmm(_as_batch(left, batch), _as_batch(right, batch)), (*batch, *n, *m))


def _folds(batch: Tensor, other: Tensor, left: Tensor) -> bool:
    """Whether to multiply the batch as one big matrix, as PyTorch decides it.

    Always where ``other`` needs a gradient, which with ``bmm`` would be as large as the batch before it is summed; else
    where that copies nothing.
    """
    if other._rg and other.requires_grad:
        return True
    if left.ndim == 2:
        return False
    lead, sizes = steps(batch._a), list(batch._a.shape)
    if left is not batch:
        lead[-2:], sizes[-2:] = lead[:-3:-1], sizes[:-3:-1]
    lead, sizes = lead[:-1], sizes[:-1]
    return batch._a.size == 0 or all(lead[i] == lead[i + 1] * sizes[i + 1] for i in range(len(lead) - 1))


def _folded_right(x: Tensor, y: Tensor) -> Tensor:
    """``x @ y`` for a vector or matrix and a batch, as the transpose of a batch times a matrix."""
    turned = g.transpose(y, y.ndim - 2, y.ndim - 1)
    if x.ndim == 1:
        return g.unsafe_view(mv(_flat(turned), x), turned.shape[:-1])
    product = g.unsafe_view(mm(_flat(turned), g.t(x)), (*turned.shape[:-1], x.shape[0]))
    return contiguous(g.transpose(product, product.ndim - 2, product.ndim - 1))


def _flat(x: Tensor) -> Tensor:
    """A batch of matrices as one matrix."""
    return reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))


def _as_batch(x: Tensor, batch: tuple[int, ...]) -> Tensor:
    """Matrices broadcast to a batch of one dimension."""
    return reshape(expand(x, (*batch, *x.shape[-2:])), (math.prod(batch), *x.shape[-2:]))


def _tensors(op: str, input: Any, **others: Any) -> None:
    """Raise :class:`TypeError` for the first operand that is no tensor, by its position in the method, or first in the function."""
    for position, (name, value) in enumerate({"input": input, **others}.items()):
        if not isinstance(value, Tensor):
            raise not_a_tensor(op, name, value, max(position, 1))


def rmatmul(self: Tensor, other: Any) -> Tensor:
    """``other @ self``."""
    return matmul(other, self) if isinstance(other, Tensor) else ask_all(rmatmul, self, other)
