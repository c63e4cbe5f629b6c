"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..several import at_home
from ..tensor import Tensor, wrap
from .elementwise import Elementwise, Group, at_least_zero, blocks, check_fused, check_rate
from .vocabulary import Buffers, Tensors


class SGD(Elementwise):
    """``p -= lr * g`` with weight decay, (Nesterov) momentum and dampening as in PyTorch."""

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float | Tensor = 0, nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check_rate(lr)
        at_least_zero("momentum value", momentum)
        at_least_zero("weight_decay value", weight_decay)
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, defaults)
        check_fused(defaults)

    @at_home
    def _update(self, p: Tensor, group: Group) -> list[Tensor]:
        assert p._grad is not None
        a, g = p._a, p._grad._a
        if group["maximize"]:
            g = -g
        if group["weight_decay"]:
            g = g + Buffers.number(group["weight_decay"]) * a
        written = []
        if momentum := group["momentum"]:
            state = self.state[p]
            kept = state.get("momentum_buffer")
            if kept is None:
                state["momentum_buffer"] = kept = wrap(g.copy())
            else:
                kept._a *= momentum
                kept._a += (1 - group["dampening"]) * g
                written = [kept]
            g = g + momentum * kept._a if group["nesterov"] else kept._a
        lr = Buffers.number(group["lr"])
        for p_, g_ in blocks(a, g):
            p_ -= lr * g_
        return written

    def _update_recorded(self, p: Any, group: Group) -> None:
        g = -p.grad if group["maximize"] else p.grad
        decay = Tensors.number(group["weight_decay"])
        if isinstance(decay, Tensor):
            g = g + p.clone() * decay
        elif decay:
            g = g.add(p, alpha=decay)
        if momentum := group["momentum"]:
            state = self.state[p]
            kept = state.get("momentum_buffer")
            if kept is None:
                state["momentum_buffer"] = kept = g.detach().clone()
            else:
                kept.mul_(momentum).add_(g, alpha=1 - group["dampening"])
            g = g.add(kept, alpha=momentum) if group["nesterov"] else kept.clone()
        Tensors.add_(p, g, -Tensors.number(group["lr"]))
