"""Reading values from where they lie: from another device only by asking for it."""

from __future__ import annotations

from typing import Any

from ...tensor import Tensor


def number(x: Any) -> Any:
    """The one element of ``x``, a buffer or tensor, as a Python number."""
    array = x._a if isinstance(x, Tensor) else x
    return (array.get() if hasattr(array, "get") else array).item()


def some(mask: Any) -> bool:
    """Whether something in ``mask``, a buffer or tensor, is true."""
    return bool(number((mask._a if isinstance(mask, Tensor) else mask).any()))
