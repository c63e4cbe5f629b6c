"""Rprop (Riedmiller and Braun, 1993): only the signs of gradients count."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..creation import full_like
from ..tensor import Tensor
from .elementwise import Elementwise, Group, State, advanced, check_rate, scalar, zeros
from .vocabulary import Buffers


class Rprop(Elementwise):
    """Every element has a step size of its own: larger while its gradient keeps its sign, smaller once that changes."""

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-2, etas: Any = (0.5, 1.2), step_sizes: Any = (1e-6, 50), *,
        capturable: bool = False, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def start(self, p: Tensor, state: State, group: Group) -> None:
        lr = Buffers.number(group["lr"])
        state.update(step=scalar(), prev=zeros(p), step_size=full_like(p, complex(lr, lr) if p.is_complex() else lr))

    def kept(self, group: Group) -> tuple[str, ...]:
        return ("prev", "step_size")

    def prepare(self, F: Any, state: State, group: Group) -> Any:
        advanced(state)
        return *group["etas"], *group["step_sizes"]

    def rule(self, F: Any, c: Any, p: Any, g: Any, before: Any, size: Any, *rest: Any) -> None:
        shorter, longer, least, most = c
        agreement = F.sign(g * F.fresh(before))
        changed = agreement < 0
        F.mul_(size, F.where(agreement > 0, agreement * longer, F.where(changed, agreement * -shorter, agreement + 1)))
        F.clamp_(size, least, most)
        F.copy_(before, F.where(changed, g * 0, g))  # where the sign has changed there is no step now
        F.addcmul_(p, F.sign(before), size, -1)
