"""ViewFunc: how a view was made from its base, to be done again on another base.

Views keep only the function that does it on a buffer; what else is to know is read out of it when somebody asks.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .tensor import Tensor
    from .view import ViewMeta


class ViewFunc:
    """One view op with its saved numbers and sizes: called on a tensor it makes the view of that, recorded."""

    __slots__ = ("arguments", "name")

    def __init__(self, view: ViewMeta) -> None:
        kept = dict(inspect.getclosurevars(view.step).nonlocals)
        kernel = kept.pop("take", None)
        self.name: str = view.op if kernel is None else kernel.__name__
        """The op, as the op table calls it."""
        if "rest" in kept:  # an interpreted row
            kept = dict(zip(kept["op"].row.args[1:], kept["rest"], strict=True))
        self.arguments: dict[str, Any] = kept if kernel is None else _named(kernel, kept["arguments"])
        """What it was called with, without the tensor."""

    def __call__(self, base: Tensor) -> Tensor:
        """The same view of ``base``."""
        from .ops import ROWS

        if self.name not in ROWS:  # a custom Function's input that it returned as it was
            return ROWS["alias"](base)
        return ROWS[self.name](base, **self.arguments)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{n}={v!r}' for n, v in self.arguments.items())})"


def _named(kernel: Any, values: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(list(inspect.signature(kernel).parameters)[1:], values, strict=False))


def chain_of(t: Tensor) -> list[ViewFunc]:
    """The views that lead from the base of ``t`` to it; empty if it is no view."""
    view = None if t._meta is None else t._meta.view
    return [] if view is None else [ViewFunc(v) for v in view.chain()]


def seen_alike(t: Tensor, base: Tensor) -> Tensor | None:
    """Of the memory of ``base`` what ``t`` shows of its own, whatever sizes that base has; ``None`` when ``t`` is no view."""
    view = None if t._meta is None else t._meta.view
    if view is None:
        return None
    if t._a.dtype != view.base._a.dtype:  # sizes and strides are not all that the view changed
        for func in chain_of(t):
            base = func(base)
        return base
    return base.as_strided(t._a.shape, t.stride(), t.storage_offset())


def replayed(t: Tensor, base: Tensor) -> Tensor | None:
    """The view of ``base`` that is like ``t`` of its own base.

    ``None``, as in PyTorch, when ``t`` is no view or ``base`` differs from that one in sizes or strides.
    """
    view = None if t._meta is None else t._meta.view
    if view is None:
        return None
    own = view.base
    if own._a.shape != base._a.shape or own.stride() != base.stride():
        return None
    for func in chain_of(t):
        base = func(base)
    return base
