"""What in-place ops write into the tangents of what they write, where PyTorch does the same op there instead of a copy.

So the tangent's history is named after that op, and where its elements share memory it says which of them were meant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..device import beside
from ..tangents import tangent_of, tangents_of
from ..tensor import Tensor, wrap

Again = Callable[[Tensor, int], object]

VALUE = {
    "fill_": 0,
    "masked_fill_": 1,
    "index_fill_": 2,
    "index_put_": 1,
    "scatter_": 2,
    "put_": 1,
    "masked_scatter_": 1,
}
"""Ops that write a value, and which of their arguments that is: the tangent is written the tangent of the value."""

_ZERO = frozenset((
    "zero_", "bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "random_", "uniform_",
    "eq_", "ge_", "greater_", "greater_equal_", "gt_", "le_", "less_", "less_equal_", "lt_", "ne_", "not_equal_",
))  # fmt: skip
"""Ops whose result has a derivative of zero throughout."""


_SHAPES = frozenset(("t_", "transpose_", "swapaxes_", "swapdims_", "unsqueeze_", "squeeze_", "as_strided_"))


def written_by(name: str, args: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The op that writes the tangent of what ``t.name(*args)`` writes, and its arguments."""
    if name in _ZERO:
        return "zero_", ()
    if name == "copy_" and not (_is_tensor(args[0]) and tangents_of(args[0])):
        return "fill_", (0.0,)
    if name in ("conj_physical_", "index_put_", *_SHAPES) or (name in VALUE and VALUE[name] == len(args) - 1):
        return name, args
    return "copy_", ()


def again(name: str, function: Callable[..., Tensor], args: tuple[Any, ...]) -> Again | None:
    """What to do to a tangent of a level where ``t.name(*args)`` was written; ``None``: copy the tangent of the result there."""
    if name in _ZERO:
        return lambda tangent, level: tangent.zero_()
    if name == "conj_physical_":
        return lambda tangent, level: tangent.conj_physical_()
    if name == "copy_":
        return lambda tangent, level: _copied(tangent, tangent_of(args[0], level) if _is_tensor(args[0]) else None)
    if name == "index_put_":
        from .inplace import inplace

        return lambda tangent, level: inplace(tangent, name, function, _with_tangent(name, args, level))
    if name in VALUE and VALUE[name] == len(args) - 1:
        return lambda tangent, level: getattr(tangent, name)(*_with_tangent(name, args, level))
    return None


def _copied(tangent: Tensor, source: Tensor | None) -> Tensor:
    return tangent.fill_(0.0) if source is None else tangent.copy_(source)


def _with_tangent(name: str, args: tuple[Any, ...], level: int) -> tuple[Any, ...]:
    """``args`` with the tangent of the value in its place: zeros like it where it has none."""
    at = VALUE[name]
    value: Any = args[at]
    found: Any = tangent_of(value, level) if _is_tensor(value) else 0.0
    if found is None:
        found = _zeros(value)
    return (*args[:at], found, *args[at + 1 :])


def _zeros(value: Tensor) -> Tensor:
    return wrap(beside(np.zeros(value.shape, value.dtype), value._a))


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)
