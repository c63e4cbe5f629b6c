"""Adam (Kingma and Ba, 2015), with PyTorch's options."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .optimizer import Optimizer, blocks, positive


class Adam(Optimizer):
    """Steps of the bias-corrected first moment over the root of the second."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        positive("learning rate", lr)
        positive("epsilon value", eps)
        positive("weight_decay value", weight_decay)
        for i, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
            },
        )

    def update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state.update(step=0, exp_avg=np.zeros_like(p), exp_avg_sq=np.zeros_like(p))
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = np.zeros_like(p)
        state["step"] += 1
        m, v = state["exp_avg"], state["exp_avg_sq"]
        largest = state.get("max_exp_avg_sq", v)
        for block in blocks(p, g, m, v, largest):
            self._update(state["step"], group, *block)

    @staticmethod
    def _update(step: int, group: dict[str, Any], p: Any, g: Any, m: Any, v: Any, largest: Any) -> None:
        b1, b2 = group["betas"]
        m += (1 - b1) * (g - m)
        v *= b2
        v += (1 - b2) * (g * g)
        if group["amsgrad"]:
            np.maximum(largest, v, out=largest)
        denominator = np.sqrt(largest)
        denominator /= math.sqrt(1 - b2**step)
        denominator += group["eps"]
        p -= (group["lr"] / (1 - b1**step)) * (m / denominator)
