"""In-place forms: the out-of-place op, its value written back, its node made the history of the written tensor."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from .. import events, foreign, overrides, several
from ..arguments import in_order
from ..device import array_module, arrive_later, may_arrive_later
from ..errors import raise_if
from ..grad_mode import mode
from ..inside import check_write as check_captured
from ..node import Node
from ..repeated_index import add_in_turn
from ..saved.hooks import deferred, keep_inputs, keep_output
from ..saved.mutation import before_write
from ..saved.strict import refuse
from ..signatures import Guard, refusal
from ..sites import caller, user_stacklevel
from ..storage import Storage
from ..tensor import Tensor, check_inplace, repeats, wrap
from ..view import rebase_history
from .checked_devices import in_place
from .explain import not_a_tensor
from .forward import check_write, follow, keep_tangents, write
from .inplace_errors import check_result, of_mask, put_right
from .mixed_devices import same_device
from .other_dtype import computed_in
from .overlapping import check_operands
from .self_overlap import check_overlapping, check_unrecorded, overlaps_itself, write_rounds
from .tangent_writes import VALUE, again


def inplace(
    t: Tensor,
    name: str,
    function: Callable[..., Tensor],
    args: tuple[Any, ...],
    apart: bool = False,
    keywords: tuple[Any, ...] = (),
) -> Tensor:
    """``t.name(*args)``: refused before any byte changes where PyTorch refuses it.

    The op runs on a twin of ``t`` that has its history; where the op saved its input, the twin keeps the old values.
    ``apart``: the twin has memory of its own, since the function is made of ops any of which may save it or a view of it.
    ``keywords``: operands that ``function`` knows already.
    """
    if overrides.seen and mode.overriding:  # whoever overrides was asked before
        with overrides.DisableTorchFunctionSubclass():
            return inplace(t, name, function, args, apart, keywords)
    if several.active and several.away(t._a):
        with several.home((t,)):
            return inplace(t, name, function, args, apart, keywords)
    if name == "abs_" and t._a.dtype.kind == "c":
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    if events.special & events.TRANSFORM:
        check_captured(t, name, (*args, *keywords))
    repeating = check_written(t, name, (*args, *keywords) if keywords else args)
    overlapping = overlaps_itself(t._a)
    if overlapping:
        check_overlapping(t, name, (*args, *keywords))
    if events.special & events.STRICT:
        refuse(t, name)
    twin = _twin(t)
    if apart:
        twin._a = t._a.copy()
    if events.special & events.FORWARD:
        check_write(t, name, (*args, *keywords), repeating)
        follow(twin, t, (*args, *keywords))
        mode.writes_view = t._meta is not None and t._meta.view is not None
    try:
        result, born = (function(twin, *args), []) if not events.special else deferred(function, twin, *args)
    except (NotImplementedError, TypeError) as error:
        put_right(t, name, function, (*args, *keywords), error)
        raise
    except RuntimeError as error:
        raise_if(of_mask(t, name, args) or in_place(error, name))
        raise
    finally:
        if events.special:
            mode.writes_view = False
    check_result(t, result._a.shape, result._a.dtype, name, (*args, *keywords))
    later = name == "copy_" and may_arrive_later(t._a, result._a)
    if not later:
        same_device(t, result)
    if overlapping:
        check_unrecorded(name, result, (*args, *keywords))
    node = result._fn
    if node is not None and "self" in node.slots and node.s_self is twin:
        twin._a = t._a.copy()
    if events.special:
        _keep(born, node)
        before_write(t, name)
    if repeating or (overlapping and name == "index_put_"):
        _write_repeating(t._a, result._a, name, args)
    elif overlapping:
        write_rounds(t._a, result._a, function, args)
    elif later:
        arrive_later(t._a, result._a)
    else:
        t._a[...] = result._a
    code, lasti = caller()
    t._bump(name, node, code, lasti)
    if node is not None:
        if result._a.dtype != t._a.dtype:
            computed_in(node, result._a.dtype)
        if "result" in node.slots:
            storage = t._shared_storage()
            node.s_result, node.v_result, node.o_storage = t._a, storage.version, storage  # type: ignore[attr-defined]  # a node with that slot
            if events.sink is not None:
                events.sink.slot_saved(node, node.slots.index("result"), storage, storage.version)
        rebase_history(t, node, name, code, lasti)
        if born:
            keep_output(node, t)
    if events.special & events.FORWARD:
        write(t, result, again(name, function, args))
        if node is not None:
            keep_tangents(node, t)
    return t


def check_written(t: Tensor, name: str, args: tuple[Any, ...]) -> bool:
    """Refuse ``t.name(*args)`` where the memory that it writes forbids it.

    Tells whether that shows one place as several elements and may be written all the same.
    """
    repeating = _may_repeat(t, name, args)
    check_inplace(t, args, repeating)
    check_operands(t, name, args)
    return repeating


def _may_repeat(t: Tensor, name: str, args: tuple[Any, ...]) -> bool:
    """Whether ``t`` shows one place of memory as several elements and the op may write it all the same, as in PyTorch.

    Warns as PyTorch where that is deprecated.
    """
    if name not in _REPEATING or (name == "copy_" and not (args and args[0] is t)) or not repeats(t._a):
        return False
    if name == "fill_" and any(isinstance(x, Tensor) for x in args):
        return False
    if _REPEATING[name]:
        text = (
            f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before performing this operation. This "
            f"also applies to advanced indexing e.g. tensor[{_REPEATING[name]}"
        )
        warnings.warn(text, UserWarning, stacklevel=user_stacklevel())
    return True


_REPEATING = {
    "copy_": "",
    "fill_": "",
    "zero_": "",
    "masked_fill_": "mask] = scalar",
    "index_fill_": "mask] = scalar",
    "index_put_": "indices] = tensor",
    "threshold_": "",
    "tril_": "",
    "triu_": "",
}
"""Ops that may write repeated memory, with what PyTorch's warning calls their form as an assignment; ``copy_`` only of itself."""


def _write_repeating(target: Any, result: Any, name: str, args: tuple[Any, ...]) -> None:
    """Write what the op writes and nothing else: elements that it leaves alone share their memory with those it writes."""
    if name == "index_put_":
        key, values, accumulate = (*args, False)[:3]
        values = values._a if isinstance(values, Tensor) else values
        if accumulate:
            add_in_turn(target, key, values)
        else:
            target[key] = values
    else:
        _write_changed(target, result)


def _write_changed(target: Any, result: Any) -> None:
    changed = (result != target) & ((result == result) | (target == target))
    array_module(target).copyto(target, result, where=changed)


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


def method(name: str, function: Callable[..., Tensor], composed: bool = False) -> Callable[..., Tensor]:
    """The method ``name_`` of an op; ``composed`` where that may be several ones."""

    key = f"Tensor.{name}"
    guard = Guard(key)

    def write(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        asked = overrides.asked_by(self, args) if overrides.seen else ()
        if asked:
            return overrides.dispatch(overrides.canonical.get(write, write), asked, (self, *args), kwargs)
        if kwargs or (len(args) > guard.free and tuple(map(type, args)) not in guard.known):
            args, kwargs = guard.examine(args, kwargs)
        try:
            if kwargs and name in VALUE:
                args, kwargs = in_order(function, (self, *args), kwargs)
                args = args[1:]
            if kwargs:
                return inplace(
                    self,
                    name,
                    lambda t, *a: function(t, *a, **kwargs),
                    args,
                    composed and _wanted(self, *args, *kwargs.values()),
                    tuple(kwargs.values()),
                )
            return inplace(self, name, function, args, composed and _wanted(self, *args))
        except Exception:
            if foreign.among(args, kwargs):
                raise foreign.refused(write, f"torch.{key}", (self, *args), kwargs) from None
            refused = refusal(key, args, kwargs)
            if refused is None:
                raise
            raise refused from None

    write.__name__ = write.__qualname__ = name
    write.__doc__ = f"In-place form of :func:`{function.__name__}`."
    write.of = function  # type: ignore[attr-defined]  # whose arguments have names
    return write


def of_tensor(method: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The in-place form as a function, which may be given what is no tensor."""

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        asked = overrides.overloaded((*args, *kwargs.values())) if overrides.seen and mode.overriding else ()
        if asked:
            return overrides.dispatch(call, asked, args, kwargs)
        if args and not isinstance(args[0], Tensor) and not overrides.asks(type(args[0])):
            raise not_a_tensor(method.__name__, "self", args[0], 1)
        return method(*args, **kwargs)

    call.public = f"torch.{method.__name__}"  # type: ignore[attr-defined]  # read by overrides.resolve_name
    return call


def _wanted(*values: Any) -> bool:
    """Whether an op of ``values`` may be recorded."""
    return mode.grad and any(isinstance(x, Tensor) and bool(x._rg) for x in values)
