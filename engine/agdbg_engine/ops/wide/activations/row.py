"""How an activation declares itself: a row, and its gradient as a row of its own."""

from __future__ import annotations

import re
from typing import Any

from ..declare import op, unary

NOTHING = "zeros_of(self_shape, g)"
"""The second derivative of what is linear in pieces."""


def activation(signature: str, node: str, self: str, **columns: Any) -> None:
    """A function of floating numbers that is public through a function that also knows ``inplace=``."""
    usual: dict[str, Any] = {"where": "", "out": False, "inplace": False, "floats": False, "kinds": "f"}
    unary(signature, node, self, **{**usual, **columns})


def backward(name: str, node: str, second: str, rest: str = "") -> None:
    """The gradient ``name_backward(grad_output, self, rest)``: linear in ``grad_output``, with the gradient ``second`` in self."""
    rest = rest and ", " + rest
    by_output, tangent = f"{name}_backward(g, self{rest})", f"{name}_backward(grad_output_t, self{rest})"
    if second != NOTHING:
        tangent += " + " + re.sub(r"\bg\b", "self_t", second)
    op(
        f"{name}_backward(grad_output, self{rest})", node, grad_output=by_output, self=second, jvp=tangent, elementwise=True
    )  # fmt: skip
