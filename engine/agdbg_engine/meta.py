"""AutogradMeta: the part of a tensor's autograd state that most tensors do not have.

The hot part (``grad_fn``, ``output_nr``, ``requires_grad``, ``grad``) sits in slots of the tensor itself. Everything
that makes a tensor *special* hangs here, so that ops test one slot for ``None``: a leaf's AccumulateGrad, being
a view, retaining its gradient, hooks of a leaf, a name.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .node import AccumulateGrad, TensorHooks
    from .view import ViewMeta


class AutogradMeta:
    """Rare autograd state of one tensor."""

    __slots__ = ("accumulator", "leaf_hooks", "name", "retains_grad", "view")

    accumulator: weakref.ref[AccumulateGrad] | None
    """Weak, as in PyTorch: the graph keeps the AccumulateGrad alive, the leaf does not."""
    view: ViewMeta | None
    retains_grad: bool
    leaf_hooks: TensorHooks | None
    """Hooks of a leaf; they outlive its AccumulateGrad."""
    name: str

    def __init__(self) -> None:
        self.accumulator = None
        self.view = None
        self.retains_grad = False
        self.leaf_hooks = None
        self.name = ""
