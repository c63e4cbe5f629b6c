"""Hooks firing in a backward pass: what they are called with, and PyTorch's tests of what they return."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import events
from ..errors import Details, class_name, make, type_text
from ..grad_mode import mode
from ..hooks import Hook, Hooks, LeafHooks, NodeHooks, Owned, Quiet, function_of
from .watch import Watch, facts

if TYPE_CHECKING:
    from ..backward import BackwardPass
    from ..node import AccumulateGrad, Node

Gradients = list[Any]
"""The gradients of a node's outputs or inputs: buffers, or tensors in a pass that records; ``None`` where there is none."""


def tensor_hooks(bp: BackwardPass, node: Node, hooks: NodeHooks, gs: Gradients) -> Gradients:
    """The gradients coming in for ``node`` as the hooks on its outputs leave them; retained by the tensors that want it."""
    for nr, mine in hooks.tensor:
        for number, hook in _due(bp, mine):
            g = as_tensor(gs[nr])
            answer = _fire(bp, number, hook, "tensor", node, g)
            if answer is not None:
                gs[nr] = _as_gradient(bp, _checked(answer, g, hook, node))
    for nr, retaining in hooks.retain.items():
        t = retaining()
        if t is not None and gs[nr] is not None:
            t._accumulate_recorded(as_tensor(gs[nr]))
    return gs


def pre_hooks(bp: BackwardPass, node: Node, hooks: Hooks, gs: Gradients) -> Gradients:
    """The gradients coming in for ``node`` as the hooks before it leave them."""
    for number, hook in _due(bp, hooks):
        tensors = [as_tensor(g) for g in gs]
        answer = _fire(bp, number, hook, "pre", node, tuple(tensors))
        gs = _replaced(bp, answer, tensors, gs, hook, node)
    return gs


def post_hooks(bp: BackwardPass, node: Node, hooks: Hooks, found: Gradients, gs: Gradients) -> Gradients:
    """The gradients ``found`` by ``node`` from ``gs`` as the hooks after it leave them."""
    outputs = tuple(as_tensor(g) for g in gs)
    found = writable(list(found))
    for i in node.blanks:
        found.insert(i, None)
    for number, hook in _due(bp, hooks):
        inputs = [as_tensor(g) for g in found]
        answer = _fire(bp, number, hook, "post", node, tuple(inputs), outputs)
        found = _replaced(bp, answer, inputs, found, hook, node)
    for i in reversed(node.blanks):
        del found[i]
    return found


def post_accumulate_hooks(bp: BackwardPass, node: AccumulateGrad, hooks: LeafHooks) -> None:
    """Tell those who wait for the ``grad`` of a leaf, even if there is none; :class:`RuntimeError` when one returns a tensor."""
    leaf, answered = node.variable, False
    for number, hook in _due(bp, hooks.post_accumulate or {}):
        answer = _fire(bp, number, hook, "post-accumulate", node, leaf)
        if answer is not None and answer is not leaf:
            _checked(answer, leaf, hook, node)
            answered = True
    if answered:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def writable(gs: Gradients, waiting: MutableMapping[Any, Any] | None = None) -> Gradients:
    """Gradients that functions of the program may write to: those without dimensions, numbers to NumPy, become arrays.

    Args:
        gs: the gradients; one that is there twice is one array.
        waiting: those of other nodes: where the same one waits, it is the array too. What holds them is changed.
    """
    made: dict[int, Any] = {}
    waiting = {} if waiting is None else waiting
    for g in gs:
        if isinstance(g, np.generic) and id(g) not in made:
            array = made[id(g)] = np.asarray(g)
            for key in [key for key, other in waiting.items() if other is g]:
                waiting[key] = array
    return [made.get(id(g), g) for g in gs] if made else gs


def _due(bp: BackwardPass, hooks: Mapping[int, Any]) -> list[tuple[int, Hook]]:
    """The hooks that this pass calls: those of a transform only in passes of its level."""
    return [
        (number, function_of(hook))
        for number, hook in hooks.items()
        if type(hook) is not Owned or hook.transform is bp.transform
    ]


def as_tensor(g: Any) -> Any:
    """A gradient as hooks get it."""
    from ..tensor import Tensor, wrap

    return g if g is None or isinstance(g, Tensor) else wrap(g)


def _as_gradient(bp: BackwardPass, answer: Any) -> Any:
    return answer if answer is None or bp.tensors else answer._a


def _fire(bp: BackwardPass, number: int, hook: Hook, kind: str, node: Node, *args: Any) -> Any:
    watch = None if events.sink is None or isinstance(hook, Quiet) else Watch(kind, node, args)
    mode.overriding = bp.overriding
    started = perf_counter_ns() if watch is not None else 0
    try:
        answer = hook(*args)
    finally:
        mode.overriding = False
    if events.sink is not None and not isinstance(hook, Quiet):
        took = perf_counter_ns() - started if watch is not None else 0
        events.sink.hook("fired", kind, node, bp.code, bp.lasti, facts(watch, bp, number, hook, took))
    return answer


def _replaced(bp: BackwardPass, answer: Any, tensors: Gradients, gs: Gradients, hook: Hook, node: Node) -> Gradients:
    """The gradients that a node's hook wants instead of ``gs``, which it has seen as ``tensors``."""
    if answer is None:
        return gs
    if not isinstance(answer, tuple):
        raise _wrong(TypeError, node, f"expected tuple, but hook returned '{class_name(answer)}'")
    if len(answer) != len(tensors):
        raise _wrong(
            RuntimeError,
            node,
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(answer)}, but expected {len(tensors)})",
        )
    return [_as_gradient(bp, _checked(a, t, hook, node)) for a, t in zip(answer, tensors, strict=True)]


def _checked(answer: Any, before: Any, hook: Hook, node: Node) -> Any:
    """What a hook on ``node`` returned in place of ``before``."""
    from ..tensor import Tensor

    if answer is None:
        return None
    if before is None:
        raise _wrong(RuntimeError, node, "can't replace a None gradient with a non-None value")
    if not isinstance(answer, Tensor):
        raise _wrong(TypeError, node, f"expected Variable, but hook returned '{class_name(answer)}'")
    if answer.dtype != before.dtype or answer.device.type != before.device.type:
        raise _wrong(
            RuntimeError,
            node,
            f"hook '{_name(hook)}' has changed the type of value (was {_type(before)} got {_type(answer)})",
        )
    if answer.device != before.device:  # PyTorch says so in the formula that is given it, or in what comes of that
        raise _wrong(
            RuntimeError,
            node,
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{answer.device} and {before.device}!",
            f"hook '{_name(hook)}' was given a gradient on {before.device} and returned one on {answer.device}",
        )
    if answer.shape != before.shape:
        raise _wrong(
            RuntimeError,
            node,
            f"hook '{_name(hook)}' has changed the size of value",
            f"the gradient has shape {list(before.shape)}, and what came back has shape {list(answer.shape)}",
        )
    return answer


def _wrong(error: type[Exception], node: Node, *lines: str) -> Exception:
    """What a hook on ``node`` returned can be no gradient there."""
    return make(error, Details("hook-error", node), *lines)


def _type(t: Any) -> str:
    return type_text(t.dtype, t.device.type)


def _name(hook: Hook) -> str:
    return getattr(hook, "__name__", "<unknown>")
