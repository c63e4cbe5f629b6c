"""NAdam: Adam with Nesterov momentum (Dozat, 2016)."""

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


class NAdam(Elementwise):
    """Steps of a mean of the gradient and the first moment over the root of the second."""

    captured = "params, mu_products and state_steps"

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 2e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        at_least_zero("epsilon value", eps)
        check_betas(betas)
        at_least_zero("weight_decay value", weight_decay)
        at_least_zero("momentum_decay value", momentum_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def start(self, p: Tensor, state: State, group: Group) -> None:
        state.update(step=scalar(), mu_product=scalar(1.0), exp_avg=zeros(p), exp_avg_sq=zeros(p))

    def kept(self, group: Group) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq")

    def prepare(self, F: Any, state: State, group: Group) -> Any:
        step = advanced(state)
        lr, (b1, b2) = F.rate(group["lr"]), group["betas"]
        mu, following = (b1 * (1.0 - 0.5 * 0.96 ** (n * group["momentum_decay"])) for n in (step, step + 1))
        product = state["mu_product"]._a
        product *= mu
        so_far = product.item()
        shrink = 1 - lr * group["weight_decay"] if group["decoupled_weight_decay"] and group["weight_decay"] else None
        if group["foreach"]:
            lr = F.number(group["lr"])  # where PyTorch takes it out of its tensor
        of_gradient = lr * (1.0 - mu) / (1.0 - so_far)
        of_mean = lr * following / (1.0 - so_far * following)
        return shrink, b1, b2, of_gradient, of_mean, (1 - b2**step) ** 0.5, group["eps"]

    def kernel(self, group: Group, c: Any) -> Any:
        return _STEP, (1.0 if c[0] is None else c[0], *c[1:])

    def rule(self, F: Any, c: Any, p: Any, g: Any, m: Any, v: Any, *rest: Any) -> None:
        shrink, b1, b2, of_gradient, of_mean, divisor, eps = c
        if shrink is not None:
            F.mul_(p, shrink)
        F.lerp_(m, g, 1 - b1)
        F.mul_(v, b2)
        F.addcmul_(v, g, g, 1 - b2)
        root = F.root(v, divisor, eps)
        F.addcdiv_(p, g, root, -of_gradient)
        F.addcdiv_(p, m, root, -of_mean)


_STEP = update(
    "nadam", doubles("shrink b1 b2 of_gradient of_mean divisor eps"), "T p, T m, T v",
    f"{GRADIENT} p *= T(shrink); m += T(1 - b1) * (h - m); v = v * T(b2) + T(1 - b2) * h * h;"
    "T root = sqrt(v) / T(divisor) + T(eps); p -= T(of_gradient) * h / root; p -= T(of_mean) * m / root;",
    in_python(NAdam.rule, 7),
)  # fmt: skip
"""The step on a device."""
