"""Limits that are tensors, both of them in one op: :func:`..elementwise.clamp` calls it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..declare import formula, op


def _clamp(x: Any, low: Any, high: Any) -> Any:
    """``x`` limited to [low, high], either of which may be missing; ``high`` where ``low`` is above it."""
    if low is not None:
        x = np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


@formula
def low_grad(F: Any, g: Any, x: Any, low: Any, high: Any) -> Any:
    """Gradient of a clamp in the lower limit: where that is the result, and not the upper one."""
    return F.keep(g, x < low if high is None else (low < high) & (x < low))


@formula
def high_grad(F: Any, g: Any, x: Any, low: Any, high: Any) -> Any:
    """Gradient of a clamp in the upper limit."""
    return F.keep(g, x > high if low is None else (x > high) | (high < low))


@formula
def clamp_tangent(F: Any, x: Any, low: Any, high: Any, x_t: Any, low_t: Any, high_t: Any) -> Any:
    """Tangent of a clamp; where ``x`` is a limit that is alone, that of the limit, other than in backward."""
    if high is None:
        return F.where(x > low, x_t, low_t)
    if low is None:
        return F.where(x < high, x_t, high_t)
    return F.where((x > high) | (high < low), high_t, F.where(x < low, low_t, x_t))


clamp_both = op(
    "clamp_both(self, min=None, max=None)", "ClampBackward0", elementwise=True, value=_clamp,
    self="keep(g, inside(self, min, max))", min="low_grad(g, self, min, max)", max="high_grad(g, self, min, max)",
    jvp="clamp_tangent(self, min, max, self_t, min_t, max_t)",
)  # fmt: skip
