"""ASGD: the average of the parameters over the steps beside them (Polyak and Juditsky, 1992)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..tensor import Tensor
from .elementwise import Elementwise, Group, State, advanced, at_least_zero, check_rate, scalar, zeros
from .vocabulary import Buffers


class ASGD(Elementwise):
    """Steps of the gradient that become smaller; the state ``ax`` is the average of the parameters."""

    captured = "params, mus, etas, and state_steps"

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        at_least_zero("weight_decay value", weight_decay)
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def start(self, p: Tensor, state: State, group: Group) -> None:
        state.update(step=scalar(), eta=scalar(Buffers.number(group["lr"])), mu=scalar(1.0), ax=zeros(p))

    def kept(self, group: Group) -> tuple[str, ...]:
        return ("ax",)

    def prepare(self, F: Any, state: State, group: Group) -> Any:
        step = advanced(state)
        eta, mu = state["eta"]._a, state["mu"]._a
        c = 1 - group["lambd"] * eta.item(), eta.item(), mu.item()
        lr = Buffers.rate(group["lr"])
        if group["foreach"]:  # PyTorch computes with the step as a tensor: a number over one is times its reciprocal
            base = (1 + group["lambd"] * lr * state["step"].dtype.type(step)) ** group["alpha"]
            rate = lr / base if isinstance(lr, np.generic) else 1 / base * lr
        else:
            rate = lr / (1 + group["lambd"] * lr * step) ** group["alpha"]
        # In the default dtype, also where loading has made the state float64.
        eta[...] = rate if isinstance(rate, np.generic) else scalar(rate).item()
        mu[...] = scalar(1 / max(1, step - group["t0"])).item()
        return c

    def rule(self, F: Any, c: Any, p: Any, g: Any, mean: Any, *rest: Any) -> None:
        shrink, eta, mu = c
        F.mul_(p, shrink)
        F.add_(p, g, -eta)
        if mu == 1:
            F.copy_(mean, p)
        else:
            F.add_(mean, (p - mean) * mu)
