"""Losses of single elements as rows: the reduction is part of the op, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....fused import fused
from ... import graph, kernels
from ..declare import formula, in_both, kernel, op
from .reduction import reduced


def _row(name: str, node: str, options: str = "", target: bool = True) -> None:
    """A loss of ``self`` and ``target`` whose slopes are the formula ``name_slopes``, a pair of them."""
    given = "".join(f", {o}" for o in options.split())
    slope = f"{name}_slope(self, target{given}, %d) * shared(g, self_shape, reduction)"
    tangent = f"self_t * {name}_slope(self, target{given}, 0)"
    if target:
        tangent += f" + target_t * {name}_slope(self, target{given}, 1)"
    columns: dict[str, Any] = {"self": slope % 0, "target": slope % 1 if target else None}
    op(f"{name}(self, target{given}, reduction)", node, kinds="f", jvp=f"reduced({tangent}, reduction)", **columns)


def _reduced(values: Any, reduction: str) -> Any:
    return reduced(kernels, values, reduction)


# ----- distances -----


@kernel
def smooth_l1_loss(x: Any, target: Any, beta: float, reduction: str) -> Any:
    """The square of the difference over ``2 beta`` where it is below ``beta``, else its size less ``beta / 2``."""
    return _reduced(smooth_l1_of_elements(x, target, beta), reduction)


@fused(
    "T x, T target, float64 beta", "T out",
    "T d = abs(x - target); T part = d > T(beta) ? T(beta) : d; out = (d - part) + part / T(beta) * part * T(0.5);",
)  # fmt: skip
def smooth_l1_of_elements(x: Any, target: Any, beta: float) -> Any:
    """:func:`smooth_l1_loss` unreduced."""
    part, beyond = _apart(x - target, beta)
    share = part / beta
    share *= part
    share *= 0.5
    beyond += share
    return beyond


def _apart(d: Any, most: float) -> tuple[Any, Any]:
    """The size of ``d`` as far as ``most``, and what goes beyond. (To choose by a mask takes ten times as long.)"""
    d = np.abs(d, kernels.room(d))
    part = kernels.at_most(d, most)
    d -= part
    return part, d


@formula
def smooth_l1_loss_slope(F: Any, x: Any, target: Any, beta: float, which: int) -> Any:
    """Its derivative in ``x`` (0) or ``target`` (1)."""
    return F.limited_share(x, target, beta) if which == 0 else F.limited_share(target, x, beta)


@fused(
    "T x, T target, float64 beta", "T out",
    "T d = x - target; out = (d < T(-beta) ? T(-beta) : d > T(beta) ? T(beta) : d) / T(beta);",
)  # fmt: skip
def limited_share(x: Any, target: Any, beta: float) -> Any:
    """``(x - target) / beta`` within [-1, 1]."""
    share = kernels.between(x - target, -beta, beta)
    share /= beta
    return share


def _recorded_limited_share(x: Any, target: Any, most: float) -> Any:
    """As :func:`limited_share`; its derivative is 0 at the ends."""
    d = x - target
    return graph.where(graph.abs(d) >= most, graph.sgn(d), d / most)  # type: ignore[attr-defined]  # rows


in_both("limited_share", limited_share, _recorded_limited_share)


@kernel
def huber_loss(x: Any, target: Any, delta: float, reduction: str) -> Any:
    """Half the square of the difference where it is below ``delta``, else ``delta`` times its size less ``delta / 2``."""
    return _reduced(huber_of_elements(x, target, delta), reduction)


@fused(
    "T x, T target, float64 delta", "T out",
    "T d = abs(x - target); T part = d > T(delta) ? T(delta) : d; out = (d - part) * T(delta) + part * part * T(0.5);",
)  # fmt: skip
def huber_of_elements(x: Any, target: Any, delta: float) -> Any:
    """:func:`huber_loss` unreduced."""
    part, beyond = _apart(x - target, delta)
    part *= part
    part *= 0.5
    beyond *= delta
    beyond += part
    return beyond


@formula
def huber_loss_slope(F: Any, x: Any, target: Any, delta: float, which: int) -> Any:
    """Its derivative in ``x`` (0) or ``target`` (1)."""
    return F.limited(x, target, delta) if which == 0 else F.limited(target, x, delta)


@fused(
    "T x, T target, float64 delta", "T out",
    "T d = x - target; out = d < T(-delta) ? T(-delta) : d > T(delta) ? T(delta) : d;",
)  # fmt: skip
def limited(x: Any, target: Any, delta: float) -> Any:
    """``x - target`` within [-delta, delta]."""
    return kernels.between(x - target, -delta, delta)


def _recorded_limited(x: Any, target: Any, most: float) -> Any:
    """As :func:`limited`; its derivative is 0 at the ends."""
    d = x - target
    return graph.where(graph.abs(d) >= most, graph.sgn(d) * most, d)  # type: ignore[attr-defined]  # rows


in_both("limited", limited, _recorded_limited)


_row("smooth_l1_loss", "SmoothL1LossBackward0", "beta")
_row("huber_loss", "HuberLossBackward0", "delta")

# ----- of labels 1 and -1 -----


@kernel
def soft_margin_loss(x: Any, target: Any, reduction: str) -> Any:
    """log(1 + exp(-target * x)); infinite where the exponential is, as in PyTorch."""
    return _reduced(np.log1p(np.exp(-target * x)), reduction)


@formula
def soft_margin_loss_slope(F: Any, x: Any, target: Any, which: int) -> Any:
    """Its derivative in ``x``; NaN where the exponential is infinite, as in PyTorch."""
    z = F.exp(-target * x)
    return -target * z / (z + 1)


_row("soft_margin_loss", "SoftMarginLossBackward0", target=False)

# ----- of probabilities -----


@kernel
def binary_cross_entropy(x: Any, target: Any, weight: Any, reduction: str) -> Any:
    """``-target log(x) - (1 - target) log(1 - x)``, the logarithms no less than -100."""
    out = (target - 1) * np.maximum(np.log1p(-x), -100) - target * np.maximum(np.log(x), -100)
    return _reduced(out if weight is None else out * weight, reduction)


@formula
def binary_cross_entropy_slope(F: Any, x: Any, target: Any, weight: Any, which: int) -> Any:
    """Its derivative in ``x`` (0) or ``target`` (1)."""
    out = F.bce_slope(x, target) if which == 0 else F.log1p(-x) - F.log(x)
    return out if weight is None else out * weight


@formula
def binary_cross_entropy_grad(F: Any, share: Any, x: Any, target: Any, weight: Any) -> Any:
    """Its gradient in ``x``, of the share of every element."""
    share = share if weight is None else share * weight
    return F.bce_backward(F.expand(share, x.shape), x, target)


_LEAST_SPREAD = float(np.float32(1e-12))
"""The least ``x (1 - x)`` to divide by, a float32 in PyTorch's kernels for all dtypes."""


@fused(
    "T x, T target", "T out",
    "T spread = (T(1) - x) * x; out = (x - target) / (spread < T(1e-12f) ? T(1e-12f) : spread);",
)  # fmt: skip
def bce_slope(x: Any, target: Any) -> Any:
    """The derivative of :func:`binary_cross_entropy` in ``x``."""
    return _bce_slope(kernels, x, target)


def _bce_slope(F: Any, x: Any, target: Any) -> Any:
    return (x - target) / F.clamp_min((1 - x) * x, _LEAST_SPREAD)


in_both("bce_slope", bce_slope, lambda x, target: _bce_slope(graph, x, target))


@kernel
def bce_backward(share: Any, x: Any, target: Any) -> Any:
    """``share`` times :func:`bce_slope`."""
    return share * bce_slope(x, target)


@formula
def bce_slope_shifted(F: Any, x: Any, target: Any) -> Any:
    """:func:`bce_slope` as what is recorded has it: 1e-12 is added to ``x`` and ``1 - x``, which may be 0."""
    return (x - target) / ((x + 1e-12) * (1 - x + 1e-12))


@formula
def bce_curve(F: Any, x: Any, target: Any) -> Any:
    """The second derivative in ``x``, shifted as :func:`bce_slope_shifted`."""
    return (x * x - 2 * x * target + target) / ((x + 1e-12) ** 2 * (1 - x + 1e-12) ** 2)


@formula
def bce_slope_in_target(F: Any, x: Any) -> Any:
    """The derivative of :func:`bce_slope` in the target, of 1e-12 in the precision of ``x``."""
    return -1 / F.clamp_min((1 - x) * x, 1e-12)


op(
    "bce_backward(share, self, target)", "BinaryCrossEntropyBackwardBackward0", kinds="f",
    share="g * bce_slope_shifted(self, target)", self="g * share * bce_curve(self, target)",
    target="g * share * bce_slope_in_target(self)",
    jvp="share_t * bce_slope(self, target) + share * (self_t * bce_curve(self, target) + target_t * bce_slope_in_target(self))",
)  # fmt: skip
op(
    "binary_cross_entropy(self, target, weight, reduction)", "BinaryCrossEntropyBackward0", kinds="f", weight=None,
    self="binary_cross_entropy_grad(shared(g, self_shape, reduction), self, target, weight)",
    target="binary_cross_entropy_slope(self, target, weight, 1) * shared(g, self_shape, reduction)",
    jvp="reduced(self_t * binary_cross_entropy_slope(self, target, weight, 0) + target_t * binary_cross_entropy_slope(self, "
    "target, weight, 1), reduction)",
)  # fmt: skip


@kernel
def binary_cross_entropy_with_logits(x: Any, target: Any, weight: Any, pos_weight: Any, reduction: str) -> Any:
    """:func:`binary_cross_entropy` of ``sigmoid(x)``, computed so that nothing overflows."""
    factor = None if pos_weight is None else 1 + (pos_weight - 1) * target
    out = bce_of_logits(x, target) if factor is None else (1 - target) * x + factor * _of_no(x)
    return _reduced(out if weight is None else out * weight, reduction)


@fused(
    "T x, T target", "T out",
    "out = (T(1) - target) * x + (log1p(exp(-abs(x))) + (x > T(0) ? T(0) : -x));",
)  # fmt: skip
def bce_of_logits(x: Any, target: Any) -> Any:
    """:func:`binary_cross_entropy_with_logits` without weights, unreduced."""
    return (1 - target) * x + _of_no(x)


def _of_no(x: Any) -> Any:
    """``log(1 + exp(-x))``."""
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(-x, 0)


@fused("T x, T target", "T out", "out = T(1) / (T(1) + exp(-x)) - target;")
def bce_of_logits_slope(x: Any, target: Any) -> Any:
    """Its derivative in ``x``."""
    return _of_logits_slope(kernels, x, target)


def _of_logits_slope(F: Any, x: Any, target: Any) -> Any:
    return F.sigmoid(x) - target


in_both("bce_of_logits_slope", bce_of_logits_slope, lambda x, target: _of_logits_slope(graph, x, target))


@formula
def binary_cross_entropy_with_logits_slope(
    F: Any, x: Any, target: Any, weight: Any, pos_weight: Any, which: int
) -> Any:
    """Its derivative in ``x`` (0), ``target`` (1), ``weight`` (2) or ``pos_weight`` (3)."""
    if which == 0:
        hit = target if pos_weight is None else target * pos_weight
        out = F.bce_of_logits_slope(x, target) if pos_weight is None else (hit + 1 - target) * F.sigmoid(x) - hit
    elif which == 1:
        out = -x if pos_weight is None else F.log_sigmoid(-x) - pos_weight * F.log_sigmoid(x)
    elif which == 2:
        factor = target if pos_weight is None else pos_weight * target
        return (1 - target) * x - (1 - target + factor) * F.log_sigmoid(x)
    else:
        out = -target * F.log_sigmoid(x)
    return out if weight is None else out * weight


_SLOPES = [f"binary_cross_entropy_with_logits_slope(self, target, weight, pos_weight, {which})" for which in range(4)]
op(
    "binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction)", "BinaryCrossEntropyWithLogitsBackward0",
    kinds="f", self=f"{_SLOPES[0]} * shared(g, self_shape, reduction)", target=f"{_SLOPES[1]} * shared(g, self_shape, reduction)",
    weight=f"sum_to({_SLOPES[2]} * shared(g, self_shape, reduction), weight_shape)",
    pos_weight=f"sum_to({_SLOPES[3]} * shared(g, self_shape, reduction), pos_weight_shape)",
    jvp=f"reduced(self_t * {_SLOPES[0]} + target_t * {_SLOPES[1]} + weight_t * {_SLOPES[2]} + "
    f"pos_weight_t * {_SLOPES[3]}, reduction)",
)  # fmt: skip
