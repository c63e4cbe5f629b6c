"""Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019), with PyTorch's options."""

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
    check_fused,
    check_rate,
    doubles,
    in_python,
    scalar,
    zeros,
)
from .vocabulary import Buffers


class Adam(Elementwise):
    """Steps of the bias-corrected first moment over the root of the second."""

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        _check_tensors({"lr": lr}, foreach, capturable)
        check_rate(lr)
        at_least_zero("epsilon value", eps)
        check_betas(betas)
        at_least_zero("weight_decay value", weight_decay)
        _check_kinds(betas)
        _check_tensors({"betas[0]": betas[0], "betas[1]": betas[1]}, foreach, capturable)
        defaults = {
            "lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)
        check_fused(defaults)

    def start(self, p: Tensor, state: State, group: Group) -> None:
        state.update(step=scalar(), exp_avg=zeros(p), exp_avg_sq=zeros(p))
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros(p)

    def kept(self, group: Group) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if group["amsgrad"] else ("exp_avg", "exp_avg_sq")

    def prepare(self, F: Any, state: State, group: Group) -> Any:
        step = advanced(state)
        if F is not Buffers:
            step = state["step"].clone()  # as in PyTorch, in whose precision
        lr, b1, b2 = F.rate(group["lr"]), F.number(group["betas"][0]), F.number(group["betas"][1])
        shrink = 1 - lr * group["weight_decay"] if group["decoupled_weight_decay"] and group["weight_decay"] else None
        return shrink, b1, b2, lr / (1 - b1**step), (1 - b2**step) ** 0.5, group["eps"]

    def kernel(self, group: Group, c: Any) -> Any:
        shrink, *others = c
        return ADAM[bool(group["amsgrad"])], (1.0 if shrink is None else shrink, *others)

    def rule(self, F: Any, c: Any, p: Any, g: Any, m: Any, v: Any, largest: Any = None, *rest: Any) -> None:
        shrink, b1, b2, size, divisor, eps = c
        if shrink is not None:
            F.mul_(p, shrink)
        F.lerp_(m, g, 1 - b1)
        F.mul_(v, b2)
        F.addcmul_(v, g, g, 1 - b2)
        if largest is not None:
            F.maximum_(largest, v)
        F.addcdiv_(p, m, F.root(v if largest is None else largest, divisor, eps), -size)


_NUMBERS, _IN_PYTHON = doubles("shrink b1 b2 size divisor eps"), in_python(Adam.rule, 6)
_MOMENTS = f"{GRADIENT} p *= T(shrink); m += T(1 - b1) * (h - m); v = v * T(b2) + T(1 - b2) * h * h;"
ADAM = (
    update(
        "adam", _NUMBERS, "T p, T m, T v", f"{_MOMENTS} p -= T(size) * m / (sqrt(v) / T(divisor) + T(eps));",
        _IN_PYTHON,
    ),
    update(
        "amsgrad", _NUMBERS, "T p, T m, T v, T top",
        f"{_MOMENTS} if (v > top || v != v) top = v; p -= T(size) * m / (sqrt(top) / T(divisor) + T(eps));", _IN_PYTHON,
    ),
)  # fmt: skip
"""The step on a device; with ``amsgrad`` the second."""


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters themselves, and is no part of the gradient."""

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip


def _check_tensors(named: dict[str, Any], foreach: bool | None, capturable: bool) -> None:
    """What PyTorch refuses of options that are tensors."""
    for name, value in named.items():
        if isinstance(value, Tensor):
            if foreach and not capturable:
                raise ValueError(f"{name} as a Tensor is not supported for capturable=False and foreach=True")
            if value.numel() != 1:
                raise ValueError(f"Tensor {name} must be 1-element")


def _check_kinds(betas: Any) -> None:
    if not any(all(isinstance(beta, kind) for beta in betas[:2]) for kind in (float, Tensor)):
        raise ValueError("betas must be either both floats or both Tensors")
