"""Arguments that must be constants, since nothing computes a gradient or a tangent by them."""

from __future__ import annotations

from .. import events
from ..grad_mode import mode
from ..tangents import levels_of
from ..tensor import Tensor


def constant(op: str, *, forward: bool = False, **arguments: Tensor | None) -> None:
    """Refuse arguments that require a gradient, and get none; unless ``forward`` computes with them, those that have a tangent."""
    for name, x in arguments.items():
        if x is not None and mode.grad and x.requires_grad:
            raise RuntimeError(
                f"The function '{op}' is not differentiable with respect to argument '{name}'. This input cannot have "
                "requires_grad True."
            )
    for name, x in arguments.items():
        if x is not None and not forward and events.special & events.FORWARD and levels_of((x,)):
            raise NotImplementedError(
                f"Trying to use forward AD with {op} and a tangent of its argument '{name}': that has not been implemented."
            )
