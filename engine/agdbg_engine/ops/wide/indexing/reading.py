"""Reading values from where they lie: from another device only by asking for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....backends import on_host
from ....several import at_home
from ....tensor import Tensor


def number(x: Any) -> Any:
    """The one element of ``x``, a buffer or tensor, as a Python number."""
    array = x._a if isinstance(x, Tensor) else x
    return (array.get() if hasattr(array, "get") else array).item()


@at_home
def ends(x: Any) -> tuple[Any, Any]:
    """The smallest and the largest element of the buffer ``x``, by one copy."""
    low, high = fetched(np.stack([x.min(), x.max()])).tolist()
    return low, high


def fetched(x: Any) -> Any:
    """The buffer ``x`` as NumPy's array: copied from its device, which is waited for."""
    return x if on_host(x) else x.get()


def seen(mask: Any) -> bool:
    """Whether something in the buffer ``mask`` is true; ``False`` where nobody waits for the answer: checks of values are left
    out on a device, as in PyTorch, which fails there later and elsewhere."""
    return on_host(mask) and bool(mask.any())


@at_home
def some(mask: Any) -> bool:
    """Whether something in ``mask``, a buffer or tensor, is true."""
    return bool(number((mask._a if isinstance(mask, Tensor) else mask).any()))
