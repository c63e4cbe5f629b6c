"""Where the results of kernels lie: NumPy lets them lie as the operands do, PyTorch allocates those of some kernels row by row."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def in_rows(x: Any) -> Any:
    """The array ``x``, copied where it does not lie row by row; of a tuple every one."""
    if type(x) is tuple:
        return tuple([in_rows(each) for each in x])
    return x if x.flags.c_contiguous else x.copy("C")


def by_rows(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, with results that lie row by row: ``view(-1)`` of them is possible whatever the operand was."""

    @functools.wraps(kernel)
    def value(*args: Any) -> Any:
        return in_rows(kernel(*args))

    return value
