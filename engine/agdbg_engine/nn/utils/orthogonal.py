"""A weight that stays orthogonal: three maps from any matrix to one with orthonormal columns (rows, where it is wide)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import linalg, ops
from ...creation import eye, zeros_like
from ...grad_mode import no_grad
from ...random import randn
from ...tensor import Tensor
from ..module import Module
from .parametrize import register_parametrization

__all__ = ["orthogonal"]

_f = ops.FUNCTIONS


def _skew(X: Tensor) -> Any:
    """A square skew-Hermitian matrix of the lower triangle of a tall one."""
    X = X.tril()
    n, k = X.shape[-2:]
    if n != k:
        X = _f["cat"]([X, X.new_zeros(*X.shape[:-2], n, n - k)], dim=-1)
    return X - X.mH


def _matrix_exp(X: Tensor) -> Any:
    return _f["matrix_exp"](_skew(X))[..., : X.shape[-1]]


def _cayley(X: Tensor) -> Any:
    A = _skew(X)
    one = eye(A.shape[-1], dtype=A.dtype, device=A.device)
    return linalg.solve(one.add(A, alpha=-0.5), one.add(A, alpha=0.5))[..., : X.shape[-1]]


def _householder(X: Tensor) -> Any:
    """The product of the reflections by the columns below the diagonal, which has the signs of the columns."""
    A = X.tril(diagonal=-1)
    Q = linalg.householder_product(A, 2.0 / (1.0 + (A * A).sum(dim=-2)))
    return Q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)


_MAPS: dict[str, Callable[[Any], Any]] = {
    "matrix_exp": _matrix_exp,
    "cayley": _cayley,
    "householder": _householder,
}


class _Orthogonal(Module):
    """With ``use_trivialization`` the map goes around ``base``, an orthogonal matrix, and not around the identity."""

    base: Any

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        wide = X.shape[-2] < X.shape[-1]
        Q = _MAPS[self.orthogonal_map](X.mT if wide else X)
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if wide else Q

    @no_grad()
    def right_inverse(self, Q: Any) -> Any:
        """What is mapped to ``Q``; made orthogonal if it is not."""
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape torch.Size({list(self.shape)}). Got a tensor of shape "
                f"torch.Size({list(Q.shape)})."
            )
        wide = Q.shape[-2] < Q.shape[-1]
        tall = Q.mT if wide else Q
        if hasattr(self, "base"):
            self.base = _completed(tall)
            found = zeros_like(Q)
            # The householder map takes -1 on the diagonal to the identity; the others do not read it.
            found.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return found
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        A, tau = _f["geqrf"](tall)
        diagonal = A.diagonal(dim1=-2, dim2=-1)
        diagonal.sign_()
        diagonal[tau == 0.0] *= -1
        return A.mT if wide else A


def _completed(Q: Any) -> Any:
    """``Q``, tall, as a square orthogonal matrix; with random columns where it lacks some."""
    n, k = Q.shape[-2:]
    if n != k:
        more = randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype, device=Q.device)
        return _nearest(_f["cat"]([Q, more], dim=-1))
    return Q.clone() if _is_orthogonal(Q) else _nearest(Q)


def _is_orthogonal(Q: Any) -> bool:
    k = Q.shape[-1]
    one = eye(k, dtype=Q.dtype, device=Q.device)
    eps = 10.0 * k * float(np.finfo(Q.dtype).eps)
    return bool(_f["allclose"](Q.mH @ Q, one, atol=eps))


def _nearest(A: Any) -> Any:
    """Its orthogonal factor; that of ``QR`` with a positive diagonal of ``R``."""
    X, tau = _f["geqrf"](A)
    Q = linalg.householder_product(X, tau)
    Q *= X.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    return Q


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Let a weight, or every matrix of a batch, be orthogonal (unitary if complex): of orthonormal columns, or rows if wide.

    ``orthogonal_map`` is ``"matrix_exp"``, ``"cayley"`` or ``"householder"``; the first for square and complex ones unless
    given. ``use_trivialization`` keeps an orthogonal matrix as the base of the map (Lezcano-Casado, 2019).
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    register_parametrization(module, name, made, unsafe=True)
    return module
