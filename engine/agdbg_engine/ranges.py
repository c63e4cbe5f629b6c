"""Tensors of evenly spaced numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .creation import factory, leaf
from .dtype import category, cpp_type, get_default_dtype, scalar_type
from .forward_ad import refuse
from .ops.kernel_names import no_kernel
from .scalars import check_fits, written
from .tensor import Tensor


@factory
def arange(
    start: Any = None,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers from ``start`` (0 when only one is given) to before ``end``.

    How many follows from the numbers as given; in an integer dtype start and step are then cut to it. In int64 all three are cut
    before.
    """
    if end is None:
        start, end = 0, start
    if start is None:
        start = 0
    start, end, step = (_number("arange", n, v) for n, v in (("start", start), ("end", end), ("step", step)))
    if dtype is None:
        dtype = get_default_dtype() if any(isinstance(v, float) for v in (start, end, step)) else np.int64
    dtype = np.dtype(dtype)
    if dtype.kind in "bc":
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{scalar_type(dtype)}'")
    if step == 0 or step != step:
        raise RuntimeError("step must be nonzero")
    if not math.isfinite(start) or not math.isfinite(end):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if dtype == np.int64:
        start, end, step = int(start), int(end), int(step)
        if step == 0:
            raise ValueError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    whole = all(isinstance(v, int) for v in (start, end, step))
    count = -((start - end) // step) if whole else _count((end - start) / step)
    if dtype.kind in "iu":
        return leaf((int(start) + int(step) * np.arange(count, dtype=np.int64)).astype(dtype), device, requires_grad)
    steps = np.arange(count, dtype=np.float64)
    return leaf((start + step * steps).astype(dtype), device, requires_grad)


def _count(steps: float) -> int:
    """How many numbers make so many steps; PyTorch's error where none can count them."""
    if not steps < _MOST:
        raise RuntimeError("invalid size, possible overflow?")
    return math.ceil(steps)


_MOST = 2.0**63


def _number(op: str, name: str, value: Any) -> Any:
    refused = isinstance(value, Tensor) and value.requires_grad
    if isinstance(value, Tensor | np.generic) and value.ndim == 0 and not refused:
        value = value.item()
    if not isinstance(value, int | float | complex):
        raise TypeError(f"{op}(): argument '{name}' (position 1) must be Number, not {type(value).__name__}")
    if isinstance(value, complex):
        raise check_fits(value, np.dtype(np.float64)) or TypeError("can't convert complex to float")
    return value


@factory
def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``steps`` evenly spaced numbers, both ends (numbers or 0-d tensors) included."""
    first, last, kind = _ends("linspace", start, end, steps, dtype)
    return leaf(spaced(first, last, steps, kind), device, requires_grad)


def spaced(first: Any, last: Any, steps: int, kind: Any) -> Any:
    """The values of :func:`linspace`."""
    if steps == 1:
        return np.full(1, written(first, kind, half=False), kind)
    with np.errstate(all="ignore"):
        return _between(
            "linspace", first, last, steps, kind, kind if kind.kind in "fc" else np.dtype(np.float64)
        ).astype(kind)


@factory
def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """``base`` to the powers of :func:`linspace`."""
    first, last, kind = _ends("logspace", start, end, steps, dtype)
    wide = np.dtype(np.complex128 if kind.kind == "c" else np.float64)
    with np.errstate(all="ignore"):
        if steps == 1:
            powers = np.power(np.full(1, base, wide), written(first, wide))
            return leaf(np.full(1, written(powers.item(), kind, half=False), kind), device, requires_grad)
        powers = np.power(wide.type(base), _between("logspace", first, last, steps, kind, wide))
        return leaf(powers.astype(kind), device, requires_grad)


def _ends(op: str, start: Any, end: Any, steps: Any, dtype: Any) -> tuple[Any, Any, Any]:
    """Both ends as numbers, and the dtype of what is between."""
    kinds = [type(v) for v in (start, end, steps)]
    if not (
        all(issubclass(k, int | float | complex | Tensor | np.number) for k in kinds) and hasattr(steps, "__index__")
    ):
        names = ", ".join(k.__name__ for k in kinds)
        raise TypeError(f"{op}() received an invalid combination of arguments - got ({names}), but expected one of:")
    dims = [v.ndim if isinstance(v, Tensor) else 0 for v in (start, end)]
    if any(dims):
        raise RuntimeError(
            f"{op} only supports 0-dimensional start and end tensors, but got start with {dims[0]} dimension(s) and end with "
            f"{dims[1]} dimension(s)."
        )
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    refuse(op, start, end)
    first, last = (v.item() if isinstance(v, Tensor | np.generic) else v for v in (start, end))
    found = get_default_dtype()
    if isinstance(first, complex) or isinstance(last, complex):
        found = np.promote_types(found, np.complex64)
    kind = found if dtype is None else np.dtype(dtype)
    if category(found) > max(category(kind), 2):
        raise RuntimeError(
            f"torch.{op}(): inferred dtype {cpp_type(found)} can't be safely cast to passed dtype {scalar_type(kind)}"
        )
    return first, last, kind


def _between(op: str, first: Any, last: Any, steps: int, kind: Any, wide: Any) -> Any:
    """Evenly spaced numbers between ends of the dtype ``kind``, computed in ``wide``."""
    if kind.kind == "b" and steps:
        raise no_kernel(f"{op}_cpu", kind)
    if not steps:
        return np.empty(0, wide)
    first, last = (kind.type(n) if kind.kind in "fc" else n for n in (written(first, kind), written(last, kind)))
    if kind.kind != "c":
        return _steps(first, last, steps, wide.type)
    made = np.empty(steps, wide)  # both parts by themselves, so that an infinite one leaves the other as it is
    made.real, made.imag = (
        _steps(a, b, steps, made.real.dtype.type) for a, b in ((first.real, last.real), (first.imag, last.imag))
    )
    return made


def _steps(first: Any, last: Any, steps: int, number: Any) -> Any:
    """Each counted from the nearer end, so that rounding is the same at both; with an infinite end NaN where PyTorch has it."""
    at = np.arange(steps)
    step = number(last - first) / number(steps - 1)
    up, down = step * at.astype(step.dtype), step * (steps - 1 - at).astype(step.dtype)
    return np.where(at < steps // 2, number(first) + up, number(last) - down)
