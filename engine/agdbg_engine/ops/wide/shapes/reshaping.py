"""The in-place forms of views, whose nodes have names of their own, and ``squeeze`` of several dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....tensor import Tensor
from ... import kernels, shape
from ...explain import shape_error
from ...inplace_shape import method, reshaped
from ..declare import RESHAPING, op, view
from .strides import GEOMETRY, TANGENT, checked, seen


def _without(x: Any, dim: tuple[int, ...]) -> Any:
    return x.reshape([n for d, n in enumerate(x.shape) if d not in dim or n != 1])


_BACK = "reshape(g, self_shape)"
squeeze_some = view("squeeze_some(self, dim)", "SqueezeBackward2", _BACK, value=_without)
_squeeze_all = view("squeeze_all_here(self)", "SqueezeBackward3", _BACK, value=kernels.squeeze_all)
_squeeze_one = view("squeeze_dim_here(self, dim)", "SqueezeBackward4", _BACK, value=kernels.squeeze_dim)
_squeeze_some = view("squeeze_some_here(self, dim)", "SqueezeBackward5", _BACK, value=_without)
_t = view("t_here(self)", "TBackward1", "t(g)", value=kernels.t)
_transpose = view("transpose_here(self, dim0, dim1)", "TransposeBackward1", "transpose(g, dim0, dim1)",
                  value=kernels.transpose)  # fmt: skip
_unsqueeze = view("unsqueeze_here(self, dim)", "UnsqueezeBackward1", _BACK, value=kernels.unsqueeze)
_as_strided = op(
    "as_strided_here(self, size, stride, storage_offset, self_offset)", "AsStridedBackward1", view=True, jvp=TANGENT,
    self=f"as_strided_grad(g, {GEOMETRY})", value=seen,
)  # fmt: skip


def _squeezed(self: Tensor, dim: Any = None) -> Tensor:
    if dim is None:
        return _squeeze_all(self)
    if isinstance(dim, int):
        return _squeeze_one(self, shape.one_dim(self, dim))
    return _squeeze_some(self, shape.some_dims(self, dim) if dim else ())


def _turned(self: Tensor) -> Tensor:
    if self.ndim > 2:
        raise shape_error(f"t_() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return _t(self)


def _transposed(self: Tensor, dim0: int, dim1: int) -> Tensor:
    return _transpose(self, shape.one_dim(self, dim0), shape.one_dim(self, dim1))


def _swapped(self: Tensor, axis0: int, axis1: int) -> Tensor:
    return _transposed(self, axis0, axis1)


def _swapped_dims(self: Tensor, dim0: int, dim1: int) -> Tensor:
    return _transposed(self, dim0, dim1)


def _unsqueezed(self: Tensor, dim: int) -> Tensor:
    n = self.ndim + 1
    if not -n <= dim < n:
        raise shape_error(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})", IndexError
        )
    return _unsqueeze(self, dim)


def _restrided(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    return _as_strided(self, *checked(self, size, stride, storage_offset))


_VIEWS: dict[str, Callable[..., Tensor]] = {
    "squeeze_": _squeezed, "t_": _turned, "transpose_": _transposed, "swapdims_": _swapped_dims, "swapaxes_": _swapped,
    "unsqueeze_": _unsqueezed, "as_strided_": _restrided,
}  # fmt: skip
for _name, _function in _VIEWS.items():
    _function.__name__ = _name.removesuffix("_")
    RESHAPING[_name] = method(_name, _function)


def squeezed_in_place(x: Tensor, dim: int) -> Tensor:
    """``x.squeeze_(dim)`` of the result of an op, which nobody else has."""
    return reshaped(x, "squeeze_", _squeeze_one, (dim,))
