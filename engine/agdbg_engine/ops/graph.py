"""Functions that formulas call on tensors, under ``create_graph``: the recorded ops, and what is no op of its own.

:mod:`agdbg_engine.ops` fills in the ops of the table under their names.
"""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor, wrap
from .kernels import numel  # noqa: F401 - used by formulas
from .kernels import zeros_of as _zeros_of

Shape = tuple[int, ...]


def zeros_of(shape: Shape, like: Tensor) -> Tensor:
    """Constant zeros in the dtype and library of ``like``."""
    return wrap(_zeros_of(shape, like._a))


def reshape(x: Tensor, shape: Shape) -> Tensor:
    """X in another shape."""
    return x.reshape(shape)


def mm_left(a: Tensor, g: Tensor) -> Tensor:
    """``a.T @ g``."""
    return a.t().mm(g)


def output_of(node: Any) -> Tensor:
    """The saved result of ``node`` with its history: made anew, since the node keeps only the buffer."""
    t = wrap(node.s_result)
    t._fn, t._rg, t._storage = node, True, node.o_storage
    return t
