"""Adafactor: second moments of matrices by rows and columns (Shazeer and Stern, 2018), with PyTorch's rate and epsilons."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..several import at_home
from ..tensor import Tensor, wrap
from .elementwise import Elementwise, Group, State, advanced, check_rate_of, scalar
from .vocabulary import Buffers


class Adafactor(Elementwise):
    """Steps of the gradient over a root of second moments, which for a matrix are the product of a column and a row.

    The rate is at most ``lr``, at most one over the root of the number of steps, and scaled by the size of the parameter;
    ``d`` bounds the size of an update. ``eps`` are the least root of a second moment (by default that of the dtype) and the least
    size of a parameter.
    """

    by_lists = False

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-2, beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0, *,
        foreach: bool | None = None, maximize: bool = False,
    ) -> None:  # fmt: skip
        check_rate_of(lr)
        if not 0.0 >= beta2_decay:  # noqa: SIM300 - the order of PyTorch, as the next ones
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        for i, value in enumerate(eps, 1):
            if not (i == 1 and value is None) and not (value is not None and value >= 0.0):
                raise ValueError(f"epsilon{i} should be >= 0 but is: {value}")
        if not 1.0 <= d:  # noqa: SIM300
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not 0.0 <= weight_decay:  # noqa: SIM300
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def start(self, p: Tensor, state: State, group: Group) -> None:
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        state["step"] = scalar()
        shape, g = p.shape, p._a
        if p.ndim > 1:
            state["row_var"] = wrap(np.zeros_like(g, shape=(*shape[:-1], 1)))
            state["col_var"] = wrap(np.zeros_like(g, shape=(*shape[:-2], 1, shape[-1])))
        else:
            state["variance"] = wrap(np.zeros_like(g))

    @at_home
    def _update(self, p: Tensor, group: Group) -> list[Tensor]:
        assert p._gradient is not None
        state = self.state[p]
        if not state:
            self.start(p, state, group)
        self._check_state(p, (t for name, t in state.items() if name != "step"), group)
        x, g = p._a, -p._gradient._a if group["maximize"] else p._gradient._a
        step, lr = float(advanced(state)), Buffers.number(group["lr"])
        least, least_size = group["eps"]
        least = float(np.finfo(x.dtype).eps) if least is None else least
        rate = max(least_size, _size(x)) * min(lr, 1 / math.sqrt(step))
        if group["weight_decay"] != 0:
            x *= 1 - lr * group["weight_decay"]
        update = np.maximum(_moments(state, g, step ** group["beta2_decay"], least), least * least)
        update = g / np.sqrt(update)  # of an array without dimensions NumPy makes a number, which is no `out`
        update *= -rate / max(1.0, _size(update) / group["d"])
        x += update
        return [t for name, t in state.items() if name != "step"]


def _size(x: Any) -> float:
    """The root of the mean square."""
    return math.sqrt(float((x * x).sum())) / math.sqrt(x.size)


def _moments(state: State, g: Any, weight: float, least: float) -> Any:
    """The second moments after the gradient ``g`` has got a ``weight`` in them."""
    square = g * g
    if "variance" in state:
        Buffers.lerp_(state["variance"]._a, square, weight)
        return state["variance"]._a
    rows, columns = state["row_var"]._a, state["col_var"]._a
    Buffers.lerp_(rows, square.mean(-1, keepdims=True), weight)
    Buffers.lerp_(columns, square.mean(-2, keepdims=True), weight)
    return rows * columns / np.maximum(rows.mean(-2, keepdims=True), least)
