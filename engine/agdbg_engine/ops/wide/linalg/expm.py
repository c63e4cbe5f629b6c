"""The exponential of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host, scipy_for
from ....tensor import Tensor
from ..declare import formula, op, public
from .checks import floating, is_tensor, square
from .together import exponentials


def _expm(a: Any) -> Any:
    if not a.size:
        return a.copy()
    if on_host(a) and a.dtype.char in "fdFD":
        return exponentials(a.reshape(-1, *a.shape[-2:])).reshape(a.shape)
    expm = scipy_for(a, "linalg").expm
    return expm(a).astype(a.dtype, copy=False)


EXPM = op("matrix_exp_raw(self)", "LinalgMatrixExpBackward0", self="matrix_exp_differential(mH(self), g)",
   jvp="matrix_exp_differential(self, self_t)", holomorphic=False, value=_expm)  # fmt: skip


@formula
def matrix_exp_differential(F: Any, a: Any, direction: Any) -> Any:
    """The derivative at ``a`` in a direction: a corner of the exponential of a matrix of twice the size."""
    n = a.shape[-1]
    above = F.joined([a, direction], -1)
    below = F.joined([F.zeros_of(a.shape, a), a], -1)
    return F.matrix_exp_raw(F.joined([above, below], -2))[..., :n, n:]


@public("linalg.matrix_exp")
def linalg_matrix_exp(A: Tensor) -> Tensor:
    """Exponentials of square matrices (..., n, n)."""
    is_tensor("linalg_matrix_exp", "A", A)
    floating("linalg.matrix_exp", A, low=True)
    square("linalg.matrix_exp", A)
    if A._a.dtype == np.float16:
        x: Tensor = linalg_matrix_exp(A.to(np.dtype(np.float32))).to(A.dtype)
        return x
    x = EXPM(A)
    return x


@public("torch Tensor")
def matrix_exp(self: Tensor) -> Tensor:
    """As :func:`linalg.matrix_exp`."""
    return linalg_matrix_exp(self)
