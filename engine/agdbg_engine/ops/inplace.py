"""In-place forms: the out-of-place op, its value written back, its node made the history of the written tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import errors, events, overrides
from ..dtype import category, scalar_type
from ..grad_mode import mode
from ..node import Node
from ..saved.hooks import deferred, keep_inputs, keep_output
from ..saved.mutation import before_write
from ..saved.strict import refuse
from ..sites import caller
from ..storage import Storage
from ..tensor import Tensor, check_inplace, wrap
from ..view import rebase_history
from .forward import check_write, follow, keep_tangents, write


def inplace(t: Tensor, name: str, function: Callable[..., Tensor], args: tuple[Any, ...]) -> Tensor:
    """``t.name(*args)``: refused before any byte changes where PyTorch refuses it.

    The op runs on a twin of ``t`` that has its history; where the op saved its input, the twin keeps the old values.
    """
    if overrides.seen and mode.overriding:  # whoever overrides was asked before
        with overrides.DisableTorchFunctionSubclass():
            return inplace(t, name, function, args)
    if name == "abs_" and t._a.dtype.kind == "c":
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    check_inplace(t, args)
    if events.special & events.STRICT:
        refuse(t, name)
    twin = _twin(t)
    if events.special & events.FORWARD:
        check_write(t)
        follow(twin, t)
    result, born = (function(twin, *args), []) if not events.special else deferred(function, twin, *args)
    _check_result(t, result)
    node = result._fn
    if node is not None and "self" in node.slots and node.s_self is twin:
        twin._a = t._a.copy()
    if events.special:
        _keep(born, node)
        before_write(t, name)
    t._a[...] = result._a
    code, lasti = caller()
    t._bump(name, node, code, lasti)
    if node is not None:
        if "result" in node.slots:
            storage = t._shared_storage()
            node.s_result, node.v_result, node.o_storage = t._a, storage.version, storage  # type: ignore[attr-defined]
            if events.sink is not None:
                events.sink.slot_saved(node, node.slots.index("result"), storage, storage.version)
        rebase_history(t, node, name, code, lasti)
        if born:
            keep_output(node, t)
    if events.special & events.FORWARD:
        write(t, result)
        if node is not None:
            keep_tangents(node, t)
    return t


def _keep(born: list[tuple[Node, Tensor]], last: Node | None) -> None:
    """Pack or lock what the op saved before it writes: all but the result of its ``last`` node, which is still to come."""
    for node, out in born:
        keep_inputs(node)
        if node is not last:
            keep_output(node, out)


def _twin(t: Tensor) -> Tensor:
    """Same buffer and history as ``t``, a storage of its own: what the op sees as its input."""
    twin = wrap(t._a)
    twin._storage = Storage()
    if mode.grad:  # else nothing is recorded, and a view that has lost its history may be written
        twin._fn, twin._nr = t.grad_fn, t._nr
        twin._rg = twin._fn is not None
    return twin


def _check_result(t: Tensor, result: Tensor) -> None:
    if result._a.shape != t._a.shape:
        raise errors.make(
            RuntimeError,
            errors.Details("shape"),
            f"output with shape {list(t.shape)} doesn't match the broadcast shape {list(result.shape)}",
        )
    if category(result.dtype) > category(t.dtype):
        raise RuntimeError(
            f"result type {scalar_type(result.dtype)} can't be cast to the desired output type {scalar_type(t.dtype)}"
        )


def method(name: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The method ``name_`` of an op."""

    def write(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        asked = overrides.asked_by(self, args) if overrides.seen else ()
        if asked:
            return overrides.dispatch(overrides.canonical.get(write, write), asked, (self, *args), kwargs)
        if kwargs:
            return inplace(self, name, lambda t, *a: function(t, *a, **kwargs), args)
        return inplace(self, name, function, args)

    write.__name__ = write.__qualname__ = name
    write.__doc__ = f"In-place form of :func:`{function.__name__}`."
    return write
