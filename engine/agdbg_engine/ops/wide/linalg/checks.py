"""What linear algebra asks of its arguments, in PyTorch's words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....dtype import scalar_type
from ....tensor import Tensor
from ...explain import not_a_tensor, shape_error
from ...kernel_names import no_kernel, takes

Shape = tuple[int, ...]


SINGULAR = (
    "The diagonal element {info} is zero, the inversion could not be completed because the input matrix is singular."
)


class LinAlgError(RuntimeError):
    """A matrix has no inverse, factors or eigenvalues, or an algorithm did not converge."""


def is_tensor(op: str, name: str, value: Any, position: int = 1) -> None:
    """Raise :class:`TypeError` unless ``value`` is a tensor."""
    if not isinstance(value, Tensor):
        raise not_a_tensor(op, name, value, position)


_KERNELS = {
    **dict.fromkeys(("linalg.cholesky", "cholesky"), "cholesky_cpu"), "cholesky_inverse": "cholesky_inverse_out_cpu",
    "cholesky_solve": "cholesky_solve_cpu", "torch.linalg.ldl_factor_ex": "ldl_factor_kernel_cpu",
    "torch.linalg.ldl_solve": "ldl_solve_kernel_cpu", **dict.fromkeys(("geqrf", "linalg.qr"), "geqrf_cpu"),
    "linalg.householder_product": "orgqr_cpu", "torch.ormqr": "ormqr_cpu", "torch.linalg.lu_solve": "linalg.lu_solve_cpu",
    **dict.fromkeys(("linalg.lu", "linalg.lu_factor", "linalg.det", "linalg.solve"), "lu_cpu"),
    **dict.fromkeys(("triangular_solve", "linalg.solve_triangular"), "triangular_solve_cpu"),
    "linalg.svd": "linalg_svd_cpu", "linalg.eigh": "linalg_eigh_cpu",
    **dict.fromkeys(("linalg.eig", "linalg.eigvals"), "linalg_eig_out_cpu"),
}  # fmt: skip
"""The kernels that tell of half precision by op."""
_OF_INTEGERS = {
    "cholesky", "cholesky_inverse", "cholesky_solve", "geqrf", "linalg.householder_product", "torch.ormqr", "linalg.lu",
    "linalg.lu_factor", "triangular_solve", "linalg.solve_triangular", "linalg.eigh",
}  # fmt: skip
"""Ops of which the kernel tells of integers, too."""


def floating(op: str, x: Tensor, low: bool = False) -> None:
    """Refuse integers and, unless ``low``, half precision."""
    dtype = x._a.dtype
    if takes("fc" if low else "wc", dtype):
        return
    if op in _OF_INTEGERS or (dtype.kind == "f" and op in _KERNELS):
        raise no_kernel(_KERNELS[op], dtype)
    if dtype.kind == "f":
        raise RuntimeError(f"{op}: Low precision dtypes not supported. Got {scalar_type(dtype)}")
    raise RuntimeError(f"{op}: Expected a floating point or complex tensor as input. Got {scalar_type(dtype)}")


def matrices(op: str, x: Tensor, name: str = "A") -> None:
    """Refuse what is no matrix or batch of matrices."""
    if x.ndim < 2:
        raise shape_error(f"{op}: The input tensor {name} must have at least 2 dimensions.")


def square(op: str, x: Tensor, name: str = "A") -> None:
    """Refuse what is no square matrix or batch of them."""
    matrices(op, x, name)
    rows, columns = x.shape[-2:]
    if rows != columns:
        raise shape_error(f"{op}: {name} must be batches of square matrices, but they are {rows} by {columns} matrices")


def floating_square(op: str, x: Tensor, name: str = "A") -> None:
    """Square floating or complex matrices."""
    is_tensor(op, name, x)
    square(op, x, name)
    floating(op, x)


def floating_matrices(op: str, x: Tensor, name: str = "A") -> None:
    """Floating or complex matrices."""
    is_tensor(op, name, x)
    matrices(op, x, name)
    floating(op, x)


def same_dtype(op: str, a: Tensor, b: Tensor, names: str = "A and B") -> None:
    """Refuse operands of two dtypes."""
    if a._a.dtype != b._a.dtype:
        first, _, second = names.partition(" and ")
        raise RuntimeError(
            f"{op}: Expected {first} and {second} to have the same dtype, but found {first} of type {scalar_type(a._a.dtype)} "
            f"and {second} of type {scalar_type(b._a.dtype)} instead"
        )


def both_of_dtype(b: Tensor, a: Tensor) -> None:
    """As :func:`same_dtype`, in the words of the older functions."""
    if a._a.dtype != b._a.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {scalar_type(b._a.dtype)} and A of type "
            f"{scalar_type(a._a.dtype)} instead."
        )


def old_square(a: Tensor) -> None:
    """As :func:`square`, in the words of the older functions."""
    rows, columns = a.shape[-2:]
    if rows != columns:
        raise shape_error(f"A must be batches of square matrices, but they are {rows} by {columns} matrices")


def multiplied(op: str, a: Tensor, b: Tensor, left: bool) -> None:
    """Refuse matrices that do not fit in ``A X = B`` (``left``) or ``X A = B``."""
    inner = b.shape[-2] if left else b.shape[-1]
    if a.shape[-2] != inner:
        equation = "AX = B" if left else "XA = B"
        (m, n), (k, r) = a.shape[-2:], b.shape[-2:]
        raise shape_error(f"{op}: Incompatible shapes of A and B for the equation {equation} ({m}x{n} and {k}x{r})")


def one_batch(op: str, a: Shape, b: Shape) -> Shape:
    """The batch dimensions of two batches of matrices broadcast to each other."""
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        from ...explain import broadcast_error

        raise broadcast_error([a, b]) or shape_error(f"{op}: batches do not broadcast") from None


def failures(op: str, info: Any, text: str, error: type[Exception] = LinAlgError) -> None:
    """Raise :class:`LinAlgError` for the first matrix whose LAPACK ``info`` is not 0; ``text`` may name ``{info}``."""
    if not on_host(info):
        info = info.get()  # PyTorch waits for the answer too
    info = np.asarray(info)
    if not info.any():
        return
    first = int(np.flatnonzero(info)[0])
    where = f"(Batch element {first}): " if info.ndim else ""
    raise error(f"{op}: {where}{text.format(info=abs(int(info.reshape(-1)[first])))}")
