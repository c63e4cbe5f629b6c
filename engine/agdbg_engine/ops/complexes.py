"""Complex numbers: parts, views as pairs of real numbers, conjugates. What is only for real numbers refuses them here."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import events
from ..dtype import scalar_type
from ..tensor import Tensor
from . import _generated as g
from .explain import not_a_tensor
from .mixed_devices import refuse_mixed
from .shape import clone, matrix_transpose

_NO_COMPLEX_HALF = "there are no complex numbers of float16 (torch.complex32) here, since NumPy has none: use float32"

# ----- parts -----


def real(self: Tensor) -> Tensor:
    """The real parts: a view of a complex tensor, a real tensor itself."""
    return self if self._a.dtype.kind != "c" else g.select(g.view_as_real(self), -1, 0)


def imag(self: Tensor) -> Tensor:
    """The imaginary parts: a view of a complex tensor."""
    if self._a.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return g.select(g.view_as_real(self), -1, 1)


def set_real(self: Tensor, value: Any) -> None:
    """``x.real = value``."""
    _assign(real(self), value)


def set_imag(self: Tensor, value: Any) -> None:
    """``x.imag = value``."""
    _assign(imag(self), value)


def _assign(part: Tensor, value: Any) -> None:
    if isinstance(value, Tensor):
        part.copy_(value)
    elif isinstance(value, int | float | np.generic):
        part.fill_(value)
    else:
        raise TypeError(f"can't assign a {type(value).__name__} to a torch.{scalar_type(part.dtype)}Tensor")


def view_as_real(self: Tensor) -> Tensor:
    """A complex tensor as pairs of real numbers in a last dimension of size 2, on the same memory."""
    if self._a.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return g.view_as_real(self)


def view_as_complex(self: Tensor) -> Tensor:
    """Pairs of real numbers, which lie side by side in a last dimension of size 2, as complex ones on the same memory."""
    a = self._a
    if a.dtype == np.float16:
        raise NotImplementedError(f"view_as_complex(): {_NO_COMPLEX_HALF}")
    if a.dtype not in (np.float32, np.float64):
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{scalar_type(a.dtype)}"
        )
    if a.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if a.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if a.strides[-1] != a.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s % (2 * a.itemsize) for s in a.strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if self.storage_offset() % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    events.keep_on(events.COMPLEX)
    return g.view_as_complex(self)


def complex(real: Tensor, imag: Tensor) -> Tensor:
    """A complex tensor of its two parts."""
    _parts("complex", real=real, imag=imag)
    return g.complex_raw(real, imag)


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """A complex tensor of absolute values and angles."""
    _parts("polar", abs=abs, angle=angle)
    return g.polar_raw(abs, angle)


def _parts(op: str, **parts: Any) -> None:
    for position, (name, part) in enumerate(parts.items(), 1):
        if not isinstance(part, Tensor):
            raise not_a_tensor(op, name, part, position)
    events.keep_on(events.COMPLEX)  # before the op: its node takes the general way too
    a, b = (part.dtype for part in parts.values())
    if a.kind != "f" or b.kind != "f":
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {scalar_type(a)} and {scalar_type(b)}"
        )
    if a == b == np.float16:
        raise NotImplementedError(f"{op}(): {_NO_COMPLEX_HALF}")
    if a != b:
        raise RuntimeError(
            f"Expected object of scalar type {scalar_type(a)} but got scalar type {scalar_type(b)} for second argument"
        )
    refuse_mixed(f"{op}_raw", **parts)  # a number of the CPU, too


# ----- conjugates -----


def conj(self: Tensor) -> Tensor:
    """The conjugate of a complex tensor, a real tensor itself. A copy: unlike PyTorch's it is no view.

    In-place ops on it are refused (:class:`RuntimeError`), since they would not reach ``self``; a clone may be written.
    """
    if self._a.dtype.kind != "c":
        return self
    out = g.conj_copy(self)
    out._shared_storage().conjugate = True
    return out


def conj_physical(self: Tensor) -> Tensor:
    """As :func:`conj`."""
    return self if self._a.dtype.kind != "c" else g.conj_raw(self)


def resolve_conj(self: Tensor) -> Tensor:
    """The tensor itself, since conjugates are made at once; of what :func:`conj` made a copy that may be written."""
    return clone(self) if self._storage is not None and self._storage.conjugate else self


def matrix_adjoint(self: Tensor) -> Tensor:
    """``x.mH``: the last two dimensions swapped, elements conjugated."""
    if self.ndim < 2 and self.ndim:
        raise RuntimeError(f"tensor.mH is only supported on matrices or batches of matrices. Got {self.ndim}-D tensor.")
    return conj(matrix_transpose(self)) if self.ndim else conj(self)


# ----- functions of one tensor -----


def angle(self: Tensor) -> Tensor:
    """The angle of complex numbers; 0 or pi for real ones."""
    return g.angle(self)


def sgn(self: Tensor) -> Tensor:
    """``x / abs(x)``, and 0 at 0; the sign of real numbers, bools as they are."""
    return g.sgn(self) if self._a.dtype.kind != "b" else g.clone(self)
