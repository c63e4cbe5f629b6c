"""RAdam: Adam that starts without the second moment, until that is known well enough (Liu et al., 2020)."""

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


class RAdam(Elementwise):
    """Steps of the bias-corrected first moment, over the root of the second once its variance is small."""

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        at_least_zero("epsilon value", eps)
        check_betas(betas)
        at_least_zero("weight_decay value", weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def start(self, p: Tensor, state: State, group: Group) -> None:
        state.update(step=scalar(), exp_avg=zeros(p), exp_avg_sq=zeros(p))

    def kept(self, group: Group) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq")

    def prepare(self, F: Any, state: State, group: Group) -> Any:
        step = advanced(state)
        lr, (b1, b2) = F.rate(group["lr"]), group["betas"]
        shrink = 1 - lr * group["weight_decay"] if group["decoupled_weight_decay"] and group["weight_decay"] else None
        correction = 1 - b2**step
        limit = 2 / (1 - b2) - 1
        length = limit - 2 * step * b2**step / correction
        size = (F.rate if group["foreach"] else F.number)(group["lr"])  # in lists, PyTorch computes in its dtype
        adaptive = length > 5.0
        if adaptive:
            ratio = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)
            size = size * ratio**0.5 / (1 - b1**step) * correction**0.5
        else:
            size = size / (1 - b1**step)
        return shrink, b1, b2, size, adaptive, group["eps"]

    def kernel(self, group: Group, c: Any) -> Any:
        return _STEP, (1.0 if c[0] is None else c[0], *c[1:])

    def rule(self, F: Any, c: Any, p: Any, g: Any, m: Any, v: Any, *rest: Any) -> None:
        shrink, b1, b2, size, adaptive, eps = c
        if shrink is not None:
            F.mul_(p, shrink)
        F.lerp_(m, g, 1 - b1)
        F.mul_(v, b2)
        F.addcmul_(v, g, g, 1 - b2)
        if adaptive:
            F.addcdiv_(p, m, F.root(v, 1, eps), -size)
        else:
            F.add_(p, m, -size)


_STEP = update(
    "radam", doubles("shrink b1 b2 size adaptive eps").replace("float64 adaptive", "bool adaptive"), "T p, T m, T v",
    f"{GRADIENT} p *= T(shrink); m += T(1 - b1) * (h - m); v = v * T(b2) + T(1 - b2) * h * h;"
    "p -= T(size) * (adaptive ? m / (sqrt(v) + T(eps)) : m);", in_python(RAdam.rule, 6),
)  # fmt: skip
"""The step on a device."""
