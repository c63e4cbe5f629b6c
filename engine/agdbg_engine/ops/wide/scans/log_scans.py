"""The running ``logsumexp``, and its two transposed gradients, of which each is the derivative of the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....dtype import scalar_type
from ....tensor import Tensor
from ...layout import by_rows
from ...shape import one_dim
from ..declare import op, public
from ..indexing.reading import some
from .rows import WIDER, running


@by_rows
def _scan(x: Any, dim: int) -> Any:
    """log(cumsum(exp(x))) without overflow."""
    if not x.ndim or not x.size:
        return x.copy()
    if x.dtype.char in WIDER:
        return _scanned(x.astype(WIDER[x.dtype.char]), dim).astype(x.dtype)
    return _scanned(x, dim)


def _scanned(x: Any, dim: int) -> Any:
    """:func:`_scan` in the dtype of ``x``."""
    return running(np.logaddexp if x.dtype.kind == "f" else _added, x, dim)


def _added(a: Any, b: Any) -> Any:
    """log(exp(a) + exp(b)), of complex numbers too."""
    swap = b.real > a.real
    large, small = np.where(swap, b, a), np.where(swap, a, b)
    way = np.where(np.isneginf(large.real) | (large == small), 0, small - large)
    total = large + np.log1p(np.exp(way))
    return np.where(np.isneginf(large.real), large, total)


def _weighted(v: Any, inside: Any, outside: Any, dim: int) -> Any:
    """``exp(outside) * cumsum(v * exp(inside))``, computed by logarithms so that no factor overflows by itself."""
    if not v.ndim or not v.size:
        return v * np.exp(inside + outside)
    if v.dtype.kind == "c":
        return np.exp(_scan(np.log(v) + inside, dim) + outside)
    none = v.dtype.type(-np.inf)
    log = np.log(np.abs(v))
    up, down = (_scan(np.where(part, log, none) + inside, dim) for part in (v > 0, v < 0))
    return np.exp(up + outside) - np.exp(down + outside)


def _weighted_down(v: Any, x: Any, result: Any, dim: int) -> Any:
    """Sums over the elements up to each of ``v * exp(x - result there)``."""
    found = _weighted(v, x, -result, dim)
    if v.ndim and v.dtype.kind == "f" and (not on_host(v) or some(v != v)):  # a NaN has no sign, and is in neither half
        found = found + np.cumsum(np.where(v == v, found.dtype.type(0), v), dim)
    return found


def _weighted_up(v: Any, x: Any, result: Any, dim: int) -> Any:
    """Sums over each element and those after it of ``v * exp(x there - result)``."""
    if not v.ndim:
        return v * np.exp(x - result)
    v, inside, outside = (np.flip(y, dim) for y in (v, -result, x))
    return np.flip(_weighted(v, inside, outside, dim), dim)


# fmt: off
_row = op("logcumsumexp_raw(self, dim)", "LogcumsumexpBackward0", self="log_scan_backward(g, self, result, dim)",
   jvp="log_scan_forward(self_t, self, result, dim)", kinds="fc", value=_scan)
op("log_scan_backward(v, self, scan, dim)", "LogcumsumexpBackwardBackward0",
   v="log_scan_forward(g, self, scan, dim)", self="g * log_scan_backward(v, self, scan, dim)",
   scan="-v * log_scan_forward(g, self, scan, dim)", value=_weighted_up,
   jvp="log_scan_backward(v_t - v * scan_t, self, scan, dim) + self_t * log_scan_backward(v, self, scan, dim)")
op("log_scan_forward(v, self, scan, dim)", "LogcumsumexpForwardBackward0",
   v="log_scan_backward(g, self, scan, dim)", self="v * log_scan_backward(g, self, scan, dim)",
   scan="-g * log_scan_forward(v, self, scan, dim)", value=_weighted_down,
   jvp="log_scan_forward(v_t + v * self_t, self, scan, dim) - scan_t * log_scan_forward(v, self, scan, dim)")
# fmt: on


@public("torch Tensor", out=True)
def logcumsumexp(self: Tensor, dim: int) -> Tensor:
    """log(cumsum(exp(x))) along ``dim``, which never overflows; floating and complex dtypes."""
    dim = one_dim(self, dim)
    if self._a.dtype.kind not in "fc":
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{scalar_type(self.dtype)}'")
    return _row(self, dim)
