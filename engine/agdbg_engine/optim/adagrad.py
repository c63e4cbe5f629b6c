"""Adagrad (Duchi, Hazan and Singer, 2011)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..creation import full_like
from ..fused import update
from ..tensor import Tensor
from .elementwise import (
    GRADIENT,
    Elementwise,
    Group,
    State,
    advanced,
    at_least_zero,
    check_fused,
    check_rate,
    doubles,
    in_python,
    scalar,
)


class Adagrad(Elementwise):
    """Steps of the gradient over the root of the sum of its squares so far; the state is there from the beginning."""

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check_rate(lr)
        at_least_zero("lr_decay value", lr_decay)
        at_least_zero("weight_decay value", weight_decay)
        at_least_zero("initial_accumulator_value value", initial_accumulator_value)
        at_least_zero("epsilon value", eps)
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_fused(defaults)
        for group in self.param_groups:
            for p in group["params"]:
                self.start(p, self.state[p], group)

    def start(self, p: Tensor, state: State, group: Group) -> None:
        value = self.defaults["initial_accumulator_value"]
        state.update(step=scalar(), sum=full_like(p, complex(value, value) if p.is_complex() else value))

    def share_memory(self) -> None:
        """Nothing to do: threads share the memory anyway."""

    def kept(self, group: Group) -> tuple[str, ...]:
        return ("sum",)

    def prepare(self, F: Any, state: State, group: Group) -> Any:
        return F.rate(group["lr"]) / (1 + (advanced(state) - 1) * group["lr_decay"]), group["eps"]

    def kernel(self, group: Group, c: Any) -> Any:
        return _STEP, c

    def rule(self, F: Any, c: Any, p: Any, g: Any, total: Any, *rest: Any) -> None:
        rate, eps = c
        F.addcmul_(total, g, g)
        F.addcdiv_(p, g, F.root(total, 1, eps), -rate)


_STEP = update(
    "adagrad", doubles("rate eps"), "T p, T total", f"{GRADIENT} total += h * h; p -= T(rate) * h / (sqrt(total) + T(eps));",
    in_python(Adagrad.rule, 2),
)  # fmt: skip
"""The step on a device."""
