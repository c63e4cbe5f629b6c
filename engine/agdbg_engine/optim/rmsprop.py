"""RMSprop (Hinton, 2012), with momentum and centered as in Graves (2013)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..fused import Fused, update
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


class RMSprop(Elementwise):
    """Steps of the gradient over the root of its running mean square."""

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0, momentum: float = 0, centered: bool = False, capturable: bool = False,
        foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        at_least_zero("epsilon value", eps)
        at_least_zero("momentum value", momentum)
        at_least_zero("weight_decay value", weight_decay)
        at_least_zero("alpha value", alpha)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def start(self, p: Tensor, state: State, group: Group) -> None:
        state.update({"step": scalar()}, **{name: zeros(p) for name in self.kept(group)})

    def kept(self, group: Group) -> tuple[str, ...]:
        momentum = ("momentum_buffer",) if group["momentum"] > 0 else ()
        return ("square_avg", *momentum, *(("grad_avg",) if group["centered"] else ()))

    def prepare(self, F: Any, state: State, group: Group) -> Any:
        advanced(state)
        return F.rate(group["lr"]), group["alpha"], group["eps"], group["momentum"], group["centered"]

    def kernel(self, group: Group, c: Any) -> Any:
        return _STEPS[group["momentum"] > 0, bool(c[4])], (c[:4] if group["momentum"] > 0 else c[:3])

    def rule(self, F: Any, c: Any, p: Any, g: Any, square: Any, *others: Any) -> None:
        lr, alpha, eps, momentum, centered = c
        F.mul_(square, alpha)
        F.addcmul_(square, g, g, 1 - alpha)
        if centered:
            mean = others[-1]
            F.lerp_(mean, g, 1 - alpha)
            root = F.root(square - mean * mean, 1, eps)
        else:
            root = F.root(square, 1, eps)
        if momentum > 0:
            F.mul_(others[0], momentum)
            F.addcdiv_(others[0], g, root)
            F.add_(p, others[0], -lr)
        else:
            F.addcdiv_(p, g, root, -lr)


def _step(has_momentum: bool, centered: bool) -> Fused:
    numbers, kept = ("lr alpha eps momentum", "T p, T v, T m") if has_momentum else ("lr alpha eps", "T p, T v")
    mean = "mean += T(1 - alpha) * (h - mean); " if centered else ""
    root = f"T root = sqrt({'v - mean * mean' if centered else 'v'}) + T(eps);"
    move = "m = m * T(momentum) + h / root; p -= T(lr) * m;" if has_momentum else "p -= T(lr) * h / root;"
    return update(
        f"rmsprop{'_momentum' * has_momentum}{'_centered' * centered}", doubles(numbers), kept + ", T mean" * centered,
        f"{GRADIENT} v = v * T(alpha) + T(1 - alpha) * h * h; {mean}{root} {move}",
        in_python(RMSprop.rule, len(numbers.split()), *(() if has_momentum else (0.0,)), centered),
    )  # fmt: skip


_STEPS = {(m, c): _step(m, c) for m in (False, True) for c in (False, True)}
"""The steps on a device, by whether there is momentum and whether it is centered."""
