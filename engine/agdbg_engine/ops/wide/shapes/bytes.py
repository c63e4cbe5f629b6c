"""The bytes of a tensor seen in another dtype."""

from __future__ import annotations

from typing import Any

from ....dtype import scalar_type
from ....tensor import Tensor, wrap
from ...compare import no_gradient
from ...explain import shape_error


def view_as_dtype(self: Tensor, dtype: Any) -> Tensor:
    """``x.view(dtype)``: the same memory in another dtype, without a gradient, as in PyTorch.

    Between element sizes the last dimension becomes longer or shorter; :class:`RuntimeError` where that is impossible.
    """
    a = self._a
    if dtype.itemsize != a.itemsize:
        _check(self, dtype)
    no_gradient((self,))
    out = wrap(a.view(dtype))
    out._storage = self._without_history()
    return out


def _check(x: Tensor, dtype: Any) -> None:
    a, what = x._a, f"to view {scalar_type(x.dtype)} as {scalar_type(dtype)} (different element sizes)"
    if a.ndim == 0:
        raise shape_error(f"self.dim() cannot be 0 {what}")
    if a.strides[-1] != a.itemsize and a.shape[-1] != 1:
        raise shape_error(f"self.stride(-1) must be 1 {what}, but got {a.strides[-1] // a.itemsize}")
    times = dtype.itemsize // a.itemsize
    if times < 2:
        return
    if a.shape[-1] % times:
        raise shape_error(f"self.size(-1) must be divisible by {times} {what}, but got {a.shape[-1]}")
    if x.storage_offset() % times:
        raise shape_error(f"self.storage_offset() must be divisible by {times} {what}, but got {x.storage_offset()}")
    for d, step in enumerate(x.stride()[:-1]):
        if step % times:
            raise shape_error(f"self.stride({d}) must be divisible by {times} {what}, but got {step}")
