"""In-place forms of views: ``x.squeeze_()`` gives ``x`` another shape over the memory that it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import events, overrides
from ..grad_mode import mode
from ..inside import check_write as check_captured
from ..inside import on_outside
from ..meta import AutogradMeta
from ..node import Node
from ..pinned import pin, pin_leaf
from ..saved.mutation import before_write
from ..saved.strict import refuse
from ..sites import caller
from ..tangents import below, levels_of, tangents_of
from ..tensor import Tensor, check_inplace, wrap
from ..view import Step
from .forward import check_write, overwrite


def reshaped(t: Tensor, name: str, view: Callable[..., Tensor], args: tuple[Any, ...], outside: bool = False) -> Tensor:
    """``t.name(*args)``: ``t`` becomes ``view(t, *args)``, and stays a view of what it is a view of.

    Counts as a write: what was saved of ``t`` before has another shape. ``outside``: ``t`` follows what it is in a transform, whose
    write was counted and has turned the tangents.
    """
    if overrides.seen and mode.overriding:  # whoever overrides was asked before
        with overrides.DisableTorchFunctionSubclass():
            return reshaped(t, name, view, args, outside)
    if events.special & events.TRANSFORM:
        check_captured(t, name, args)
    check_inplace(t, args, repeating=True)
    if events.special & events.FORWARD:
        check_write(t, name, args, repeating=True)
    if events.special & events.STRICT:
        refuse(t, name)
    tangents = _tangents(t) if events.special & events.FORWARD and not outside else []
    node_before = _history(t)
    result = view(_same(t), *args)
    if events.special:
        before_write(t, name)
    if result._fn is None:
        pin_leaf(t, result._a)
        if not t._is_view():
            pin(t, result._a)
    old, t._a = t._a, result._a
    code, lasti = caller()
    if not outside:
        t._bump(name, result._fn, code, lasti)
    if result._fn is not None:
        t._fn, t._nr, t._rg = result._fn, 0, True  # hooks and retain_grad() stay with the value before, as in PyTorch
        if events.sink is not None:
            events.sink.history_rebased(t, node_before, result._fn, name, code, lasti)
    _follow(t, result, old)
    for level, tangent in tangents:
        with below(level):
            overwrite(tangent, lambda x: reshaped(x, name, view, args))
    if events.special & events.TRANSFORM:
        on_outside(t, lambda x: reshaped(x, name, view, args, outside=True))
    return t


def _tangents(t: Tensor) -> list[tuple[int, Tensor]]:
    """The tangents of ``t`` by level, which turn with it."""
    return [(level, tangents_of(t)[level]) for level in levels_of((t,))]


def _follow(t: Tensor, result: Tensor, old: Any) -> None:
    """What is known of ``t`` as a view and as a base of views is so in its new shape: that of ``result``."""
    made, recorded = result._meta, result._fn is not None
    if t._meta is not None and t._meta.view is not None:
        if made is not None and made.view is not None:
            before, t._meta.view = t._meta.view, made.view
            made.view.creation = before.creation
            # without a history of its own it takes its place in the base's anew
            made.view.attr_version = t._shared_storage().version if recorded else before.attr_version
    else:
        t._meta = t._meta or AutogradMeta()
        t._meta.turned = (*t._meta.turned, _turning_back(t._a, old))


def _turning_back(new: Any, old: Any) -> Step:
    """How a buffer in the shape of ``new`` is seen in that of ``old``, which is the same memory."""
    moved = [
        d
        for d, (a, b) in enumerate(zip(new.strides, old.strides, strict=False))
        if a != b or new.shape[d] != old.shape[d]
    ]
    if new.ndim == old.ndim and len(moved) == 2:
        first, second = moved
        return lambda a: a.swapaxes(first, second)
    shape = old.shape
    return lambda a: a.reshape(shape)


def _same(t: Tensor) -> Tensor:
    """Another tensor that is in all respects ``t``."""
    twin = wrap(t._a)
    twin._storage, twin._meta = t._shared_storage(), t._meta
    twin._fn, twin._nr, twin._rg = _history(t), t._nr, t._rg
    return twin


def _history(t: Tensor) -> Node | None:
    """The node of ``t``; where nothing is recorded the one that it had when last asked: a view may have lost its place since."""
    return t.grad_fn if mode.grad else t._fn


def method(name: str, view: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The method ``name`` that makes a tensor the ``view`` of itself."""

    def write(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        asked = overrides.asked_by(self, args) if overrides.seen else ()
        if asked:
            return overrides.dispatch(overrides.canonical.get(write, write), asked, (self, *args), kwargs)
        return reshaped(self, name, lambda t, *a: view(t, *a, **kwargs), args)

    write.__name__ = write.__qualname__ = name
    write.__doc__ = f"In-place form of :func:`{view.__name__}`: another shape for the same memory."
    return write
