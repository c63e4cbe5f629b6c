"""Functions of two operands in single precision, computed in double and rounded once, block by block.

NumPy's own loops for these go element by element, many times slower than its arithmetic. The temporaries of a block stay in
the cache, where those of whole arrays would cost more than the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

BLOCK = 16384
"""Elements of a block."""
LEAST = 1000
"""Elements from which it pays."""

InDouble = Callable[[Any, Any], "tuple[Any, bool] | None"]
"""The values of two operands in double precision, and whether zeros among them take the sign of the first operand; nothing
where that would not be exact. May overwrite its operands.
"""


def by_blocks(in_double: InDouble, otherwise: Callable[..., Any], x: Any, y: Any) -> Any:
    """``otherwise(x, y)``, for large operands in single precision by ``in_double``; ``y`` may be a number."""
    if not _fit(x, y):
        return otherwise(x, y)
    out = np.empty(x.shape, x.dtype)
    flat, a, b = out.reshape(-1), x.reshape(-1), y.reshape(-1)
    for start in range(0, flat.size, BLOCK):
        part = slice(start, start + BLOCK)
        _block(in_double, otherwise, a[part], b[part] if y.ndim else b, flat[part])
    return out


def _fit(x: Any, y: Any) -> bool:
    return (
        type(x) is type(y) is np.ndarray
        and x.size >= LEAST
        and x.dtype == y.dtype == np.float32
        and (x.shape == y.shape or y.ndim == 0)
        and x.flags.c_contiguous
        and y.flags.c_contiguous
    )


def _block(in_double: InDouble, otherwise: Callable[..., Any], x: Any, y: Any, out: Any) -> None:
    found = in_double(x.astype(np.float64), y.astype(np.float64))
    if found is None:
        otherwise(x, y, out=out)
        return
    values, zeros_signed = found
    out[...] = values
    if zeros_signed:  # those of a difference have none
        signs = x.view(np.int32) & -0x80000000
        signs *= out == 0
        bits = out.view(np.int32)
        bits |= signs


def _quotient(a: Any, b: Any, below: int, rounded: Any) -> Any:
    """``a / b``, rounded; nothing unless all are below ``below``, so that rounding in between changes none of them."""
    q = a / b
    q = rounded(q, q)
    return q if max(q.max(), -q.min()) < below and max(b.max(), -b.min()) < np.inf else None


def _less(a: Any, b: Any, q: Any) -> Any:
    if q is None:
        return None
    q *= b
    a -= q
    return a, True


def fmod(a: Any, b: Any) -> Any:
    """The remainder with the sign of ``a``: exact, since quotient times ``b`` has no more than 52 bits."""
    return _less(a, b, _quotient(a, b, 2**28, np.trunc))


def remainder(a: Any, b: Any) -> Any:
    """The remainder with the sign of ``b``; zeros have that of ``a``."""
    return _less(a, b, _quotient(a, b, 2**28, np.floor))


def floor_divide(a: Any, b: Any) -> Any:
    """The quotient rounded down, where single precision has it exactly."""
    q = _quotient(a, b, 2**22, np.floor)
    return None if q is None else (q, False)


def hypot(a: Any, b: Any) -> Any:
    """The root of the sum of squares, which cannot overflow in double precision; not of NaN, which infinity hides."""
    a *= a
    b *= b
    a += b
    return None if np.isnan(a.max()) else (np.sqrt(a, a), False)
