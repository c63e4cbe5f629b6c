"""Adadelta (Zeiler, 2012)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..fused import update
from ..tensor import Tensor
from .elementwise import (
    GRADIENT,
    Elementwise,
    Group,
    State,
    advanced,
    at_least_zero,
    check_rate,
    doubles,
    in_python,
    scalar,
    zeros,
)


class Adadelta(Elementwise):
    """Steps as large as former ones, by the ratio of the gradient to former ones."""

    capturing = ("cuda", "xpu", "hpu", "privateuseone")

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1.0, rho: float = 0.9, eps: float = 1e-6,
        weight_decay: float = 0, foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        at_least_zero("epsilon value", eps)
        at_least_zero("weight_decay value", weight_decay)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def start(self, p: Tensor, state: State, group: Group) -> None:
        state.update(step=scalar(), square_avg=zeros(p), acc_delta=zeros(p))

    def kept(self, group: Group) -> tuple[str, ...]:
        return ("square_avg", "acc_delta")

    def prepare(self, F: Any, state: State, group: Group) -> Any:
        advanced(state)
        return F.rate(group["lr"]), group["rho"], group["eps"]

    def kernel(self, group: Group, c: Any) -> Any:
        return _STEP, c

    def rule(self, F: Any, c: Any, p: Any, g: Any, square: Any, moved: Any, *rest: Any) -> None:
        lr, rho, eps = c
        F.mul_(square, rho)
        F.addcmul_(square, g, g, 1 - rho)
        move = F.sqrt(moved + eps) / F.sqrt(square + eps) * g
        F.mul_(moved, rho)
        F.addcmul_(moved, move, move, 1 - rho)
        F.add_(p, move, -lr)


_STEP = update(
    "adadelta", doubles("lr rho eps"), "T p, T v, T moved",
    f"{GRADIENT} v = v * T(rho) + T(1 - rho) * h * h; T move = sqrt(moved + T(eps)) / sqrt(v + T(eps)) * h;"
    "moved = moved * T(rho) + T(1 - rho) * move * move; p -= T(lr) * move;", in_python(Adadelta.rule, 3),
)  # fmt: skip
"""The step on a device."""
