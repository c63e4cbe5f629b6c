"""All ops: as functions of this module and as methods of :class:`~agdbg_engine.tensor.Tensor`."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from . import _generated, cast, compare, graph, lists, reduce, shape
from .inplace import method as _inplace_method
from .table import TABLE

FUNCTIONS: dict[str, Any] = {row.name: getattr(_generated, row.name) for row in TABLE}
"""Every op by name: the table's, with the user-level forms of the same name in their place."""

for _name, _function in FUNCTIONS.items():
    if not hasattr(graph, _name):
        setattr(graph, _name, _function)

_PUBLIC = {
    shape: "view reshape contiguous flatten expand permute transpose t unsqueeze squeeze select narrow",
    reduce: "sum mean var max min softmax log_softmax logsumexp mm matmul",
    lists: "unbind split",
    compare: "eq ne lt le gt ge logical_and logical_or logical_not isnan isinf isfinite argmax argmin all any equal allclose",
    cast: "to type_as",
}
for _module, _names in _PUBLIC.items():
    FUNCTIONS.update((_name, getattr(_module, _name)) for _name in _names.split())

_HIDDEN = {
    "sum_all", "sum_dim", "mean_all", "mean_dim", "max_all", "min_all", "softmax_dim", "log_softmax_dim", "nll_loss_raw",
    "nll_loss_raw_backward", "mse_loss_raw", "permute_to", "squeeze_all", "squeeze_dim", "sum_to", "to_copy", "copy", "fill", "zero",
    "select_backward", "slice_backward", "index_backward", "gather_backward", "index", "slice", "index_put", "addmm", "rsub", "ger",
    "softplus", "silu", "leaky_relu",
}  # fmt: skip
_NOT_METHODS = {"where"}

METHODS: dict[str, Any] = {n: f for n, f in FUNCTIONS.items() if n not in _HIDDEN and n not in _NOT_METHODS}
METHODS.update({row.name + "_": _inplace_method(row.name + "_", FUNCTIONS[row.name]) for row in TABLE if row.inplace})
METHODS.update(cast.CASTS)


def add(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``self + alpha * other``."""
    return _generated.add(self, other if alpha == 1 else other * alpha)


def sub(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``self - alpha * other``."""
    return _generated.sub(self, other if alpha == 1 else other * alpha)


def div(self: Tensor, other: Any) -> Tensor:
    """``self / other``: true division, integers in the default dtype."""
    return _generated.div(self, other)


def _rdiv(self: Tensor, other: Any) -> Tensor:
    return _generated.mul(_generated.reciprocal(self), other)


def _rpow(self: Tensor, other: Any) -> Tensor:
    return _generated.pow(other, self)


def _rsub(self: Tensor, other: Any) -> Tensor:
    return _generated.rsub(self, other)


def where(condition: Tensor, self: Any = None, other: Any = None) -> Any:
    """Elements of ``self`` where ``condition`` holds, else of ``other``."""
    if not isinstance(self, Tensor) and not isinstance(other, Tensor):
        from ..creation import tensor

        self = tensor(self)
    return _generated.where(condition, self, other)


def masked_fill(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``self`` with the number ``value`` where ``mask``."""
    return _generated.masked_fill(self, mask, value.item() if isinstance(value, Tensor) else value)


def index_put_(self: Tensor, indices: Any, values: Any) -> Tensor:
    """``self[indices] = values`` for index tensors."""
    self[tuple(indices)] = values
    return self


def clamp_min(self: Tensor, min: float) -> Tensor:
    """Elements no smaller than ``min``."""
    return _generated.clamp(self, min, None)


FUNCTIONS.update(add=add, sub=sub, div=div, where=where, masked_fill=masked_fill, cat=lists.cat, stack=lists.stack)
FUNCTIONS.update(outer=_generated.ger, square=lambda self: _generated.pow(self, 2))
METHODS.update(add=add, sub=sub, masked_fill=masked_fill, index_put_=index_put_, clamp_min=clamp_min, square=FUNCTIONS["square"])
METHODS["add_"] = _inplace_method("add_", add)
METHODS["sub_"] = _inplace_method("sub_", sub)

_OPERATORS = {
    "__add__": _generated.add, "__radd__": _generated.add, "__sub__": _generated.sub, "__rsub__": _rsub,
    "__mul__": _generated.mul, "__rmul__": _generated.mul, "__truediv__": _generated.div, "__rtruediv__": _rdiv,
    "__pow__": _generated.pow, "__rpow__": _rpow, "__neg__": _generated.neg, "__abs__": _generated.abs,
    "__matmul__": reduce.matmul, "__eq__": compare.eq, "__ne__": compare.ne, "__lt__": compare.lt, "__le__": compare.le,
    "__gt__": compare.gt, "__ge__": compare.ge, "__and__": compare.bitwise_and, "__or__": compare.bitwise_or,
    "__invert__": compare.bitwise_not, "__getitem__": shape.getitem, "__setitem__": shape.setitem, "__iter__": lists.iterate,
    "__iadd__": METHODS["add_"], "__isub__": METHODS["sub_"], "__imul__": METHODS["mul_"], "__itruediv__": METHODS["div_"],
    "__ipow__": METHODS["pow_"],
}  # fmt: skip

for _name, _function in {**METHODS, **_OPERATORS}.items():
    setattr(Tensor, _name, _function)
for _name in ("T", "mT"):
    setattr(Tensor, _name, property(lambda self: shape.permute(self, tuple(reversed(range(self.ndim)))) if self.ndim != 2
                                    else shape.transpose(self, 0, 1)))  # fmt: skip


def __getattr__(name: str) -> Any:
    try:
        return FUNCTIONS[name]
    except KeyError:
        raise AttributeError(f"agdbg_engine has no op '{name}'") from None
