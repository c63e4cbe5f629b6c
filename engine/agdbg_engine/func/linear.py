"""``linearize``: a function at one point, and its derivative there as a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..forward_ad import check_outermost
from .forward import jvp


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``(func(*primals), product)``, where ``product(*tangents)`` is the Jacobian at ``primals`` times ``tangents``.

    Every call of ``product`` runs ``func`` again in forward mode, where PyTorch keeps a trace of it: the values are the same as
    long as nothing changes what the function reads.
    """

    check_outermost()

    def product(*tangents: Any) -> Any:
        return jvp(func, primals, tangents)[1]

    return func(*primals), product
