"""Muon: momentum made nearly orthogonal, for the matrices of hidden layers (Jordan et al., 2024)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..several import at_home
from ..tensor import Tensor, wrap
from .elementwise import Elementwise, Group, State, check_rate_of
from .vocabulary import Buffers


def _tall(rows: int, columns: int) -> float:
    return math.sqrt(max(1, rows / columns))


def _as_adamw(rows: int, columns: int) -> float:
    return 0.2 * math.sqrt(max(rows, columns))


_RATES = {None: _tall, "original": _tall, "match_rms_adamw": _as_adamw}
"""What the rate is multiplied by for a matrix of so many rows and columns, by ``adjust_lr_fn``."""


class Muon(Elementwise):
    """Steps of the momentum with all its singular values near 1; parameters are matrices.

    That is done by ``ns_steps`` iterations of Newton and Schulz with a polynomial of ``ns_coefficients``, to the three digits of
    bfloat16, as in PyTorch.
    """

    by_lists = False

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
        nesterov: bool = True, ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315), eps: float = 1e-7,
        ns_steps: int = 5, adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        check_rate_of(lr)
        for name, value in (("momentum", momentum), ("weight decay", weight_decay)):
            if not 0.0 <= value:  # noqa: SIM300 - the order of PyTorch
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in _RATES:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}"
                    )

    def start(self, p: Tensor, state: State, group: Group) -> None:
        state["momentum_buffer"] = wrap(np.zeros_like(p._a))

    @at_home
    def _update(self, p: Tensor, group: Group) -> list[Tensor]:
        assert p._gradient is not None
        if p.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        state = self.state[p]
        if not state:
            self.start(p, state, group)
        kept, g = state["momentum_buffer"], p._gradient._a
        self._check_state(p, (kept,), group)
        lr, momentum = Buffers.number(group["lr"]), group["momentum"]
        Buffers.lerp_(kept._a, g, 1 - momentum)
        towards = g + (kept._a - g) * momentum if group["nesterov"] else kept._a
        step = nearly_orthogonal(towards, group["ns_coefficients"], group["ns_steps"], group["eps"])
        p._a *= 1 - lr * group["weight_decay"]
        p._a -= lr * _RATES[group["adjust_lr_fn"]](*p.shape) * step
        return [kept]


def nearly_orthogonal(matrix: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
    """``matrix`` with all singular values near 1, in float32 with the digits of bfloat16."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    upright = matrix.shape[0] > matrix.shape[1]
    x = in_brain_floats(matrix.T if upright else matrix)
    x = in_brain_floats(x / np.maximum(in_brain_floats(np.sqrt((x * x).sum())), np.float32(eps)))
    for _ in range(steps):
        gram = in_brain_floats(x @ x.T)
        update = in_brain_floats(b * gram + c * (gram @ gram))
        x = in_brain_floats(a * x + update @ x)
    return x.T if upright else x


def in_brain_floats(x: Any) -> Any:
    """``x`` in float32, rounded to the 8 significant bits of bfloat16, half to even."""
    bits = (
        np.asarray(x, np.float32).view(np.uint32) if isinstance(x, np.generic) else x.astype(np.float32).view(np.uint32)
    )
    rounded = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return rounded.view(np.float32)
