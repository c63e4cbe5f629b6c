"""``x.T``, ``x.mT``, ``x.H``, ``x.mH`` and ``adjoint()``: what PyTorch refuses and deprecates by number of dimensions."""

from __future__ import annotations

import warnings

from ..sites import user_stacklevel
from ..tensor import Tensor
from . import _generated as g
from .complexes import matrix_adjoint
from .explain import shape_error
from .shape import matrix_transpose


def reversed_dims(self: Tensor) -> Tensor:
    """``x.T``: all dimensions in reverse order."""
    if self.ndim == 0:
        _deprecated("Tensor.T", "This function is the identity in these cases.")
    elif self.ndim != 2:
        text = (
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an "
            "error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
        )
        warnings.warn(text, UserWarning, stacklevel=user_stacklevel())
    return g.permute_to(self, tuple(range(self.ndim))[::-1])


def last_swapped(self: Tensor) -> Tensor:
    """``x.mT``: the last two dimensions swapped; a 0-d tensor as it is."""
    if self.ndim == 0:
        _deprecated("Tensor.mT", "This function is the identity in these cases.")
    return matrix_transpose(self)


def conjugate_transpose(self: Tensor) -> Tensor:
    """``x.H``: the conjugate transpose of a matrix."""
    if self.ndim not in (0, 2):
        batch = " For batches of matrices, consider using tensor.mH" if self.ndim > 2 else ""
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor.{batch}")
    return _conjugated(self, "Tensor.H")


def last_swapped_conjugate(self: Tensor) -> Tensor:
    """``x.mH``: the last two dimensions swapped, elements conjugated."""
    return _conjugated(self, "Tensor.mH")


def adjoint(self: Tensor) -> Tensor:
    """The last two dimensions swapped, elements conjugated."""
    if self.ndim == 1:
        raise shape_error("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return _conjugated(self, "adjoint()")


def _conjugated(x: Tensor, name: str) -> Tensor:
    if x.ndim == 0:
        _deprecated(name, "Consider using x.conj().")
    return matrix_adjoint(x)


def _deprecated(name: str, instead: str) -> None:
    warnings.warn(f"{name} is deprecated on 0-D tensors. {instead}", UserWarning, stacklevel=user_stacklevel())
