"""Losses of single elements as rows: the reduction is part of the op, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..declare import formula, in_both, kernel, op
from .reduction import reduced


def _row(name: str, node: str, options: str = "", constants: str = "", target: bool = True) -> None:
    """A loss of ``self`` and ``target`` whose slopes are the formula ``name_slopes``, a pair of them."""
    given = "".join(f", {o}" for o in f"{constants} {options}".split())
    slope = f"{name}_slope(self, target{given}, %d) * shared(g, self_shape, reduction)"
    tangent = f"self_t * {name}_slope(self, target{given}, 0)"
    if target:
        tangent += f" + target_t * {name}_slope(self, target{given}, 1)"
    columns: dict[str, Any] = {"self": slope % 0, "target": slope % 1 if target else None}
    columns |= dict.fromkeys(constants.split())
    op(f"{name}(self, target{given}, reduction)", node, kinds="f", jvp=f"reduced({tangent}, reduction)", **columns)


def _reduced(values: Any, reduction: str) -> Any:
    from ... import kernels

    return reduced(kernels, values, reduction)


# ----- distances -----


@kernel
def smooth_l1_loss(x: Any, target: Any, beta: float, reduction: str) -> Any:
    """The square of the difference over ``2 beta`` where it is below ``beta``, else its size less ``beta / 2``."""
    part, beyond = _apart(x - target, beta)
    share = part / beta
    share *= part
    share *= 0.5
    beyond += share
    return _reduced(beyond, reduction)


def _apart(d: Any, most: float) -> tuple[Any, Any]:
    """The size of ``d`` as far as ``most``, and what goes beyond. (To choose by a mask takes ten times as long.)"""
    from ... import kernels

    d = np.abs(d, kernels.room(d))
    part = kernels.at_most(d, most)
    d -= part
    return part, d


@formula
def smooth_l1_loss_slope(F: Any, x: Any, target: Any, beta: float, which: int) -> Any:
    """Its derivative in ``x`` (0) or ``target`` (1)."""
    return F.limited_share(x - target if which == 0 else target - x, beta)


def _limited_share(d: Any, most: float) -> Any:
    from ... import kernels

    share = kernels.between(d, -most, most)
    share /= most
    return share


def _recorded_limited_share(d: Any, most: float) -> Any:
    """``d / most`` within [-1, 1], where its derivative is 0 at the ends."""
    from ... import graph

    return graph.where(graph.abs(d) >= most, graph.sgn(d), d / most)  # type: ignore[attr-defined]  # rows


in_both("limited_share", _limited_share, _recorded_limited_share)


@kernel
def huber_loss(x: Any, target: Any, delta: float, reduction: str) -> Any:
    """Half the square of the difference where it is below ``delta``, else ``delta`` times its size less ``delta / 2``."""
    part, beyond = _apart(x - target, delta)
    part *= part
    part *= 0.5
    beyond *= delta
    beyond += part
    return _reduced(beyond, reduction)


@formula
def huber_loss_slope(F: Any, x: Any, target: Any, delta: float, which: int) -> Any:
    """Its derivative in ``x`` (0) or ``target`` (1)."""
    return F.limited(x - target if which == 0 else target - x, delta)


def _limited(d: Any, most: float) -> Any:
    from ... import kernels

    return kernels.between(d, -most, most)


def _recorded_limited(d: Any, most: float) -> Any:
    """``d`` within [-most, most], where its derivative is 0 at the ends."""
    from ... import graph

    return graph.where(graph.abs(d) >= most, graph.sgn(d) * most, d)  # type: ignore[attr-defined]  # rows


in_both("limited", _limited, _recorded_limited)


_row("smooth_l1_loss", "SmoothL1LossBackward0", "beta")
_row("huber_loss", "HuberLossBackward0", "delta")

# ----- of labels 1 and -1 -----


@kernel
def soft_margin_loss(x: Any, target: Any, reduction: str) -> Any:
    """log(1 + exp(-target * x))."""
    z = -target * x
    return _reduced(np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z))), reduction)


@formula
def soft_margin_loss_slope(F: Any, x: Any, target: Any, which: int) -> Any:
    """Its derivative in ``x``."""
    return -target * F.sigmoid(-target * x)


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
    out = (x - target) / F.clamp_min((1 - x) * x, 1e-12) if which == 0 else F.log1p(-x) - F.log(x)
    return out if weight is None else out * weight


_row("binary_cross_entropy", "BinaryCrossEntropyBackward0", constants="weight")


@kernel
def binary_cross_entropy_with_logits(x: Any, target: Any, weight: Any, pos_weight: Any, reduction: str) -> Any:
    """:func:`binary_cross_entropy` of ``sigmoid(x)``, computed so that nothing overflows."""
    rest = np.log1p(np.exp(-np.abs(x))) + np.maximum(-x, 0)
    out = (1 - target) * x + (rest if pos_weight is None else (1 + (pos_weight - 1) * target) * rest)
    return _reduced(out if weight is None else out * weight, reduction)


@formula
def binary_cross_entropy_with_logits_slope(
    F: Any, x: Any, target: Any, weight: Any, pos_weight: Any, which: int
) -> Any:
    """Its derivative in ``x`` (0) or ``target`` (1)."""
    if which == 0:
        hit = target if pos_weight is None else target * pos_weight
        out = F.sigmoid(x) - target if pos_weight is None else (hit + 1 - target) * F.sigmoid(x) - hit
    else:
        out = -x if pos_weight is None else F.log_sigmoid(-x) - pos_weight * F.log_sigmoid(x)
    return out if weight is None else out * weight


_row("binary_cross_entropy_with_logits", "BinaryCrossEntropyWithLogitsBackward0", constants="weight pos_weight")
