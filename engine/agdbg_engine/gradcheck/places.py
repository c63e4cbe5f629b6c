"""Where :func:`gradcheck` computes: functions run where their inputs are, derivatives are compared on the host.

Of an input on a device only directions go there, and only what functions and gradients give comes back: one copy each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import several
from ..backends import on_host
from ..device import CPU, beside, moved
from ..tensor import Tensor, wrap
from .case import Array


def fetched(t: Tensor) -> Array:
    """The elements of ``t`` on the host; on the memory of ``t`` if that is there."""
    return moved(t._a, CPU)


def kept(t: Tensor) -> Array:
    """:func:`fetched` as a buffer of its own."""
    return t._a.copy() if on_host(t._a) else fetched(t)


def put(array: Array, like: Tensor) -> Tensor:
    """``array`` of the host as a tensor on the device of ``like``."""
    return wrap(beside(array, like._a))


def zeros_for(t: Tensor) -> Tensor:
    """Zeros in the shape and dtype of ``t``, beside it."""
    return put(np.zeros(t.shape, t.dtype), t)


def write(t: Tensor, array: Any, index: Any = ...) -> None:
    """Put ``array``, which lies beside ``t``, into the memory of ``t``, which nobody is told."""
    with several.home((t._a,)):
        t._a[index] = array
