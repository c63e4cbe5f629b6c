"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..fused import update, updated
from ..ops.overlapping import check_operands
from ..several import at_home
from ..tensor import Tensor, wrap
from .axpy import add_scaled
from .elementwise import GRADIENT, Elementwise, Group, check_fused, check_one, not_negative, signed
from .vocabulary import Buffers, Tensors


class SGD(Elementwise):
    """``p -= lr * g`` with weight decay, (Nesterov) momentum and dampening as in PyTorch."""

    refuses_foreach = False

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float | Tensor = 0, nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check_one(lr)
        not_negative("learning rate", lr)
        not_negative("momentum value", momentum)
        not_negative("weight_decay value", weight_decay)
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
        assert p._gradient is not None
        a, g = p._a, p._gradient._a
        kept = self.state[p].get("momentum_buffer") if group["momentum"] else None
        if kept is not None:
            self._check_state(p, (kept,), group)
        if type(a) is not np.ndarray and (done := self._in_one_kernel(p, group)) is not None:
            return done
        if group["maximize"]:
            g = -g
        if group["weight_decay"]:
            g = g + Buffers.number(group["weight_decay"]) * a
        written = []
        if momentum := group["momentum"]:
            if kept is None:
                self.state[p]["momentum_buffer"] = kept = wrap(g.copy())
            else:
                kept._a *= momentum
                add_scaled(kept._a, g, 1 - group["dampening"])
                written = [kept]
            g = g + momentum * kept._a if group["nesterov"] else kept._a
        if g is p._gradient._a:
            check_operands(p, "add_", (p._gradient,))
        add_scaled(a, g, -Buffers.number(group["lr"]))
        return written

    def _in_one_kernel(self, p: Tensor, group: Group) -> list[Tensor] | None:
        """As :meth:`_update`, from the second step on where there is momentum; ``None`` where no kernel can."""
        assert p._gradient is not None
        numbers = [signed(group), *(Buffers.number(group[name]) for name in ("weight_decay", "lr"))]
        momentum = group["momentum"]
        kept = self.state[p].get("momentum_buffer") if momentum else None
        if not momentum:
            return [] if updated(SGD_STEP, tuple(numbers), p._gradient._a, p._a) else None
        if kept is None:
            return None
        numbers += [float(momentum), 1.0 - group["dampening"], bool(group["nesterov"])]
        return [kept] if updated(MOMENTUM_STEP, tuple(numbers), p._gradient._a, p._a, kept._a) else None

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


def _in_python(g: Any, sign: float, decay: float, lr: float, *rest: Any) -> None:
    p = rest[-1] if len(rest) == 1 else rest[-2]
    h = sign * g + decay * p if decay else sign * g
    if len(rest) > 1:
        momentum, fresh, nesterov, _, m = rest
        m[...] = momentum * m + fresh * h
        h = h + momentum * m if nesterov else m
    p -= lr * h


_NUMBERS = "T g, float64 sign, float64 decay, float64 lr"
SGD_STEP = update("sgd", _NUMBERS, "T p", f"{GRADIENT} p -= T(lr) * h;", _in_python)
MOMENTUM_STEP = update(
    "sgd_momentum", f"{_NUMBERS}, float64 momentum, float64 fresh, bool nesterov", "T p, T m",
    f"{GRADIENT} m = T(momentum) * m + T(fresh) * h; p -= T(lr) * (nesterov ? h + T(momentum) * m : m);", _in_python,
)  # fmt: skip
"""The steps on a device."""
