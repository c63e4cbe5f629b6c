"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .optimizer import Optimizer, blocks, positive


class SGD(Optimizer):
    """``p -= lr * g`` with weight decay, (Nesterov) momentum and dampening as in PyTorch."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        positive("learning rate", lr)
        positive("momentum value", momentum)
        positive("weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
            },
        )

    def update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if group["momentum"]:
            g = self._momentum(g, state, group)
        for p_, g_ in blocks(p, g):
            p_ -= group["lr"] * g_

    def _momentum(self, g: Any, state: dict[str, Any], group: dict[str, Any]) -> Any:
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = state["momentum_buffer"] = g.copy()
        else:
            buffer *= group["momentum"]
            buffer += (1 - group["dampening"]) * g
        return g + group["momentum"] * buffer if group["nesterov"] else buffer
