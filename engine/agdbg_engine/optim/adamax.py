"""Adamax: Adam with the largest gradient instead of the mean square (Kingma and Ba, 2015)."""

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
    check_betas,
    check_rate,
    doubles,
    in_python,
    scalar,
    zeros,
)


class Adamax(Elementwise):
    """Steps of the bias-corrected first moment over the decaying largest size of the gradient."""

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 2e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        at_least_zero("epsilon value", eps)
        check_betas(betas)
        at_least_zero("weight_decay value", weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def start(self, p: Tensor, state: State, group: Group) -> None:
        state.update(step=scalar(), exp_avg=zeros(p), exp_inf=zeros(p))

    def kept(self, group: Group) -> tuple[str, ...]:
        return ("exp_avg", "exp_inf")

    def prepare(self, F: Any, state: State, group: Group) -> Any:
        b1, b2 = group["betas"]
        lr = (F.number if group["foreach"] else F.rate)(group["lr"])  # with lists PyTorch takes it out of its tensor
        return b1, b2, lr / (1 - b1 ** advanced(state)), group["eps"]

    def kernel(self, group: Group, c: Any) -> Any:
        return _STEP, c

    def rule(self, F: Any, c: Any, p: Any, g: Any, m: Any, largest: Any, *rest: Any) -> None:
        b1, b2, size, eps = c
        F.lerp_(m, g, 1 - b1)
        F.mul_(largest, b2)
        F.maximum_(largest, F.abs(g) + eps)
        F.addcdiv_(p, m, largest, -size)


_STEP = update(
    "adamax", doubles("b1 b2 size eps"), "T p, T m, T v",
    f"{GRADIENT} m += T(1 - b1) * (h - m); v *= T(b2); T here = abs(h) + T(eps); if (here > v || here != here) v = here;"
    "p -= T(size) * m / v;", in_python(Adamax.rule, 4),
)  # fmt: skip
"""The step on a device."""
