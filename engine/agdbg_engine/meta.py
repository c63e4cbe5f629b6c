"""AutogradMeta: the part of a tensor's autograd state that most tensors do not have.

The hot part (``grad_fn``, ``output_nr``, ``requires_grad``, ``grad``) sits in slots of the tensor itself. Everything
that makes a tensor *special* hangs here, so that ops test one slot for ``None``: a leaf's AccumulateGrad, being
a view, retaining its gradient, hooks of a leaf, a name.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .hooks import Hooks
    from .node import AccumulateGrad
    from .tangents import ForwardGrad
    from .view import ViewMeta


MAYBE = 2
"""``_rg`` of a view whose base needs no gradient yet: an in-place op on a sibling may change that."""

SAME: Any = object()
"""The dtype of the tensor itself, whichever that is."""


class AutogradMeta:
    """Rare autograd state of one tensor."""

    __slots__ = (
        "accumulator",
        "additions",
        "backward_hooks",
        "grad_dtype",
        "name",
        "post_accumulate",
        "retains_grad",
        "tangents",
        "turned",
        "view",
    )

    accumulator: weakref.ref[AccumulateGrad] | None
    """Weak, as in PyTorch: the graph keeps the AccumulateGrad alive, the leaf does not."""
    additions: int
    """How many times a pass has added to the ``grad`` in place: see ``Tensor._accumulate_recorded``."""
    grad_dtype: Any
    """What gradients of this leaf are cast to: a dtype, ``None`` for any, :data:`SAME` for that of the leaf."""
    view: ViewMeta | None
    retains_grad: bool
    backward_hooks: Hooks | None
    """Hooks on the gradient; those of a leaf outlive its AccumulateGrad."""
    post_accumulate: Hooks | None
    """Hooks of a leaf that fire when its ``grad`` is there."""
    name: str
    tangents: ForwardGrad | None
    """The tangents by level of forward mode; ``None`` for none ever."""
    turned: tuple[Any, ...]
    """For every in-place change of shape (``t_()``, ``unsqueeze_()``) how buffers of the new shape are seen in the old one: views
    that were made before lie in that."""

    def __init__(self) -> None:
        self.accumulator = None
        self.additions = 0
        self.grad_dtype: Any = SAME
        self.view = None
        self.retains_grad = False
        self.backward_hooks = self.post_accumulate = None
        self.name = ""
        self.tangents = None
        self.turned = ()
