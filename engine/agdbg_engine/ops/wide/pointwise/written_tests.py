"""In-place forms of comparisons and logic: the answers as numbers in the memory of the first operand.

What the tensor was before is gone: comparisons have a zero gradient for both operands. For logic PyTorch leaves the tensor the
history it had before, whose gradient is wrong; here such a backward pass is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....tensor import Tensor
from ... import compare, elementwise
from ..declare import INPLACE, op


def _in_dtype(ufunc: Any) -> Callable[..., Any]:
    return lambda x, *others: ufunc(x, *others).astype(x.dtype)


def _form(name: str, row: Any, function: Callable[..., Tensor]) -> None:
    """The in-place form of ``function``: by ``row`` where a gradient may be wanted, so that there is a node."""

    def written(self: Tensor, *others: Any) -> Tensor:
        answers = function(self, *others)
        if self._a.dtype.kind not in "fc" or not any(isinstance(x, Tensor) and x._rg for x in (self, *others)):
            return answers
        numbers = row(self, *others)
        numbers._a = answers._a.astype(self._a.dtype)
        return numbers

    written.__name__ = written.__qualname__ = name
    written.__doc__ = f"What ``{name}_`` writes."
    INPLACE[f"{name}_"] = written


_COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_LONG = {"ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
for _name, _ufunc in _COMPARISONS.items():
    _row = op(
        f"{_name}_written(self, other)", f"{_name.capitalize()}Backward1", self="zeros_of(self_shape, g)",
        other="zeros_of(other_shape, g)", scalars={"other": f"{_name.capitalize()}Backward0"}, elementwise=True,
        jvp="zeros_of(result_shape, result)", value=_in_dtype(_ufunc),
    )  # fmt: skip
    for _public in (_name, *_LONG.get(_name, "").split()):
        _form(_public, _row, compare.PAIRWISE[_name])

for _name in ("logical_and", "logical_or", "logical_xor"):
    _none = f"not_implemented('derivative for aten::{_name}_ is not implemented')"
    _row = op(
        f"{_name}_written(self, other)", "NotImplemented", self=_none, other=_none, elementwise=True,
        value=_in_dtype(compare.logical(getattr(np, _name))),
    )  # fmt: skip
    _form(_name, _row, compare.PAIRWISE[_name])
_row = op(
    "logical_not_written(self)", "NotImplemented", value=_in_dtype(compare.logical(np.logical_not)),
    self="not_implemented('derivative for aten::logical_not_ is not implemented')",
)  # fmt: skip
_form("logical_not", _row, compare.logical_not)

for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    INPLACE[f"{_name}_"] = compare.PAIRWISE[_name]
INPLACE["bitwise_not_"] = compare.bitwise_not
INPLACE["square_"] = elementwise.square
INPLACE["conj_physical_"] = op(
    "conj_physical_written(self)", "ConjPhysicalBackward1", self="conj_raw(g)", jvp="conj_raw(self_t)",
    value=lambda x: np.conj(x) if x.dtype.kind == "c" else x.copy(),  # NumPy makes numbers of bools
)  # fmt: skip
