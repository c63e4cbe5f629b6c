"""Views as copies: ``x_copy`` is what the view ``x`` shows, in memory of its own."""

from __future__ import annotations

from typing import Any

from ....errors import raise_if
from ....several import copied
from ....tensor import Tensor, wrap
from ... import kernels, shape
from ...complexes import view_as_complex, view_as_real
from ...explain import expand_error, shape_error
from ...refuse import refuse_recorded
from ...table import TABLE
from ..declare import linear, public
from ..interpret import Op


def _of(view: str, name: str) -> Op:
    """The row ``name`` that copies what the view of the row ``view`` shows."""
    row = next(r for r in TABLE if r.name == view)
    signature = f"{name}({row.signature.partition('(')[2]}"
    value = getattr(kernels, view if view != "view" else "reshape")
    return linear(signature, row.node + "_copy", row.grads["self"] or "", value=value)


_alias, _expand, _permute = _of("alias", "alias_copy"), _of("expand", "expand_copy"), _of("permute_to", "permute_copy")
_select, _slice = _of("select", "select_copy"), _of("slice", "slice_copy")
_squeeze, _squeeze_one = _of("squeeze_all", "squeeze_copy"), _of("squeeze_dim", "squeeze_one_copy")
_t, _transpose = _of("t", "t_copy"), _of("transpose", "transpose_copy")
_unsqueeze, _view = _of("unsqueeze", "unsqueeze_copy"), _of("view", "view_copy")
_as_real = _of("view_as_real", "view_as_real_copy")
_as_complex = _of("view_as_complex", "view_as_complex_copy")
_squeeze_some = linear("squeeze_some_copy(self, dim)", "SqueezeBackward2_copy", "reshape(g, self_shape)",
                       value=lambda x, dim: x.reshape([n for d, n in enumerate(x.shape) if d not in dim or n != 1]))  # fmt: skip
_narrow = linear("narrow_copy(self, dim, start, end)", "NarrowCopyBackward0",
                 "slice_backward(g, self_shape, dim, start, end, 1)",
                 value=lambda x, dim, start, end: kernels.slice(x, dim, start, end, 1))  # fmt: skip


@public("torch", out=True)
def alias_copy(self: Tensor) -> Tensor:
    """A copy."""
    return _alias(self)


@public("torch", out=True)
def detach_copy(self: Tensor) -> Tensor:
    """A copy without history."""
    return wrap(copied(self._a))


@public("torch", out=True)
def expand_copy(self: Tensor, size: Any, *, implicit: bool = False) -> Tensor:
    """A copy broadcast to ``size``."""
    wanted = tuple(size)
    raise_if(expand_error(self.dtype, self.shape, wanted))
    lead = len(wanted) - self.ndim
    return _expand(self, tuple(self.shape[i - lead] if s == -1 else s for i, s in enumerate(wanted)))


@public("torch", out=True)
def permute_copy(self: Tensor, dims: Any) -> Tensor:
    """A copy with the dimensions in another order."""
    shape.permute(wrap(self._a), tuple(dims))  # checks
    return _permute(self, tuple(d % self.ndim for d in dims))


@public("torch", out=True)
def select_copy(self: Tensor, dim: int, index: int) -> Tensor:
    """A copy of entry ``index`` of dimension ``dim``."""
    shape.select(wrap(self._a), dim, index)
    return _select(self, shape.one_dim(self, dim), index)


@public("torch", out=True)
def slice_copy(self: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Tensor:
    """A copy of a slice along ``dim``."""
    if step <= 0:
        raise shape_error("slice step must be positive")
    refuse_recorded("slice_copy", self)
    return _slice(self, shape.one_dim(self, dim), start, end, step)


@public("torch", out=True)
def squeeze_copy(self: Tensor, dim: Any = None) -> Tensor:
    """A copy without size-1 dimensions, all or those among ``dim``."""
    if dim is None:
        return _squeeze(self)
    if isinstance(dim, int):
        return _squeeze_one(self, shape.one_dim(self, dim))
    return _squeeze_some(self, shape.some_dims(self, dim) if self.ndim and dim else ())


@public("torch", out=True)
def t_copy(self: Tensor) -> Tensor:
    """A copy of the transpose of a matrix."""
    if self.ndim > 2:
        raise shape_error(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return _t(self)


@public("torch", out=True)
def transpose_copy(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """A copy with two dimensions swapped."""
    dim0, dim1 = shape.one_dim(self, dim0), shape.one_dim(self, dim1)
    return _transpose(self, dim0, dim1)


@public("torch", out=True)
def unsqueeze_copy(self: Tensor, dim: int) -> Tensor:
    """A copy with a size-1 dimension put in at ``dim``."""
    n = self.ndim + 1
    if not -n <= dim < n:
        raise shape_error(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})", IndexError
        )
    return _unsqueeze(self, dim)


@public("torch", out=True)
def view_copy(self: Tensor, size: Any) -> Tensor:
    """A copy in another shape, or of the bytes in another dtype."""
    if isinstance(size, tuple | list | int):
        return _view(self, shape.reshape(wrap(self._a), size).shape)
    return wrap(copied(shape.view(wrap(self._a), size)._a))


@public("torch", out=True)
def view_as_real_copy(self: Tensor) -> Tensor:
    """A copy of complex numbers as pairs of real ones."""
    view_as_real(wrap(self._a))
    return _as_real(self)


@public("torch", out=True)
def view_as_complex_copy(self: Tensor) -> Tensor:
    """A copy of pairs of real numbers as complex ones."""
    refuse_recorded("view_as_complex_copy", self, result=view_as_complex(wrap(self._a)).dtype)
    return _as_complex(self)


@public("torch Tensor", out=True)
def narrow_copy(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """A copy of ``length`` entries from ``start`` along ``dim``."""
    if 0 < self.ndim <= dim:
        raise shape_error(
            f"Expected dim {dim} to be one of the tensor, which has {self.ndim}"
        )  # no IndexError, as in PyTorch
    if length < 0 < self.ndim:
        raise shape_error(f"start ({start}) + length ({length}) exceeds dimension size ({self.shape[dim]}).")
    part = shape.narrow(wrap(self._a), dim, start, length)  # checks
    dim = shape.one_dim(self, dim)
    start = start + self.shape[dim] if start < 0 else start
    return _narrow(self, dim, start, start + part.shape[dim])
