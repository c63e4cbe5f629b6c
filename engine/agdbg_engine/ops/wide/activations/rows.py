"""Activations as rows: PyTorch's nodes, and its choice of a slope at every kink."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..declare import formula, kernel, op, unary

_ROW = {"where": "", "floats": False, "out": False, "kinds": "f", "inplace": False}


def _backward(name: str, node: str, arguments: str, self: str) -> None:
    """The gradient of an activation as an op of its own: linear in ``grad_output``, with the gradient ``self``."""
    names = ", ".join(a.partition("=")[0] for a in arguments.split(", ")) if arguments else ""
    rest = f", {names}" if names else ""
    op(
        f"{name}_backward(grad_output, self{rest})", node, elementwise=True, self=self,
        grad_output=f"{name}_backward(g, self{rest})",
        jvp=f"{name}_backward(grad_output_t, self{rest}) + " + self.replace("g *", "self_t *").replace("g)", "self_t)"),
    )  # fmt: skip


NOTHING = "zeros_of(self_shape, g)"
"""The second derivative of what is linear in pieces."""

# ----- exponential units -----


@kernel
def elu(x: Any, alpha: float, scale: float, input_scale: float) -> Any:
    """``scale * x`` where positive, else ``scale * alpha * (exp(input_scale * x) - 1)``."""
    return np.where(x > 0, x * scale, np.expm1(np.minimum(x, 0) * input_scale) * (alpha * scale))


elu_of_result = kernel(lambda *args: elu(*args))
