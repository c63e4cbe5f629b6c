"""In-place forms of views: ``x.squeeze_()`` gives ``x`` another shape over the memory that it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import events, overrides
from ..grad_mode import mode
from ..inside import check_write as check_captured
from ..saved.mutation import before_write
from ..saved.strict import refuse
from ..sites import caller
from ..tensor import Tensor, check_inplace, wrap
from ..view import set_history


def reshaped(t: Tensor, name: str, view: Callable[..., Tensor], args: tuple[Any, ...]) -> Tensor:
    """``t.name(*args)``: ``t`` becomes ``view(t, *args)``, and stays a view of what it is a view of.

    Counts as a write: what was saved of ``t`` before has another shape.
    """
    if overrides.seen and mode.overriding:  # whoever overrides was asked before
        with overrides.DisableTorchFunctionSubclass():
            return reshaped(t, name, view, args)
    if events.special & events.TRANSFORM:
        check_captured(t, name, args)
    check_inplace(t, args, repeating=True)
    if events.special & events.STRICT:
        refuse(t, name)
    node_before = t.grad_fn
    result = view(_same(t), *args)
    if events.special:
        before_write(t, name)
    t._a = result._a
    code, lasti = caller()
    t._bump(name, result._fn, code, lasti)
    if result._fn is not None:
        set_history(t, result._fn)
        if events.sink is not None:
            events.sink.history_rebased(t, node_before, result._fn, name, code, lasti)
    made = result._meta
    if made is not None and t._meta is not None:
        if t._meta.view is not None and made.view is not None:
            t._meta.view = made.view
            made.view.attr_version = t._shared_storage().version
        if made.tangents is not None:
            t._meta.tangents = made.tangents
    return t


def _same(t: Tensor) -> Tensor:
    """Another tensor that is in all respects ``t``."""
    twin = wrap(t._a)
    twin._storage, twin._meta = t._shared_storage(), t._meta
    twin._fn, twin._nr, twin._rg = t.grad_fn, t._nr, t._rg
    return twin


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
