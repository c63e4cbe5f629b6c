"""``grad`` and ``vjp``: the transforms that run backward."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import autograd
from ..creation import zeros_like
from ..dtype import is_differentiable
from ..grad_mode import mode, ordinary
from ..gradient_edge import get_gradient_edge
from ..node import edge
from ..pytree import flatten, mapped, unflatten
from ..tensor import Tensor
from .args import Argnums, check_outputs, replaced, sliced, with_aux
from .level import Level

Function = Callable[..., Any]

_GRAD = "grad_and_value(f)(*args)"
_VJP = "vjp(f, *primals)"


def grad(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """The function that computes the gradient of ``func``, which returns one number, for the arguments ``argnums``.

    With ``has_aux`` ``func`` returns ``(number, anything)``, and the new function ``(gradient, anything)``.
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradient, value = _grad_and_value(func, argnums, has_aux, args, kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapper


def grad_and_value(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """As :func:`grad`, but the new function returns ``(gradient, value)``, ``(gradient, (value, aux))`` with ``has_aux``."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return _grad_and_value(func, argnums, has_aux, args, kwargs)

    return wrapper


def _grad_and_value(
    func: Function, argnums: Argnums, has_aux: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    with Level() as level:
        inner = mapped(level.input, sliced(args, argnums))
        output, aux = with_aux(func(*replaced(level.rest(args), argnums, inner), **level.rest(kwargs)), has_aux, _GRAD)
        _check_number(output)
        leaves, structure = flatten(inner)
        pull = Pull([output], leaves, level)
        level.end()
        gradient = level.result(unflatten(pull([None], create_graph=True), structure))
        value = level.result(output)
        return gradient, (value, level.result(aux)) if has_aux else value


def _check_number(output: Any) -> None:
    if not isinstance(output, Tensor):
        raise RuntimeError(f"{_GRAD}: Expected f(*args) to return a Tensor, got {type(output)}")
    if output.ndim:
        raise RuntimeError(
            f"{_GRAD}: Expected f(*args) to return a scalar Tensor, got tensor with {output.ndim} dims. Maybe you wanted to use "
            "the vjp or jacrev APIs instead?"
        )


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """``(func(*primals), function)``: the function maps ``v``, of the structure of the output, to ``v @ Jacobian``.

    It returns a tuple over ``primals`` and may be called any number of times. With ``has_aux`` a third result is what
    ``func`` returned besides the output.
    """
    return vjp_of(func, primals, None, has_aux)


def vjp_of(func: Function, args: tuple[Any, ...], argnums: Argnums | None, has_aux: bool) -> Any:
    """:func:`vjp` for the arguments ``argnums``, for all with ``None``; the products have their structure."""
    with Level() as level:
        inner = mapped(level.input, args if argnums is None else sliced(args, argnums))
        passed = inner if argnums is None else replaced(level.rest(args), argnums, inner)
        output, aux = with_aux(func(*passed), has_aux, _VJP)
        outs, out_structure = flatten(output)
        check_outputs(outs, _VJP)
        for out in outs:
            if not is_differentiable(out.dtype):
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                    f"torch.{out.dtype}"
                )
        leaves, structure = flatten(inner)
        pull = Pull(outs, leaves, level)
        level.end()
        result, extra = level.result(output), level.result(aux) if has_aux else None

    def function(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, given_structure = flatten(cotangents)
        if given_structure != out_structure:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {given_structure.drawing()}, primal output: {out_structure.drawing()}"
            )
        recording = mode.grad if create_graph is None else create_graph
        with ordinary():
            return level.result(unflatten(pull(given, recording, retain_graph), structure), recording)

    function.__name__, function.__qualname__ = (
        "wrapper",
        "_vjp_with_argnums.<locals>.wrapper",
    )  # so Python tells of a wrong call
    return (result, function, extra) if has_aux else (result, function)


class Pull:
    """Pulls gradients of ``outputs`` back to ``inputs``: it knows their edges, whatever becomes of the tensors."""

    def __init__(self, outputs: list[Tensor], inputs: list[Tensor], level: Level) -> None:
        self._level = level
        self._roots = [get_gradient_edge(o) if o.requires_grad and edge(o) is not None else None for o in outputs]
        self._lost = [i for i, o in enumerate(outputs) if o.requires_grad and self._roots[i] is None]
        """Numbers of the outputs that only say that they require grad: views made without recording."""
        self._inputs = inputs
        self._targets = [get_gradient_edge(x) if x.requires_grad else None for x in inputs]
        """``None`` for an input that the function has detached in place."""

    def __call__(self, cotangents: list[Any], create_graph: bool, retain_graph: bool = True) -> list[Tensor]:
        """The gradients by input, zeros where no output depends on it."""
        if self._lost:
            raise RuntimeError(f"element {self._lost[0]} of tensors does not require grad and does not have a grad_fn")
        pairs = [(root, g) for root, g in zip(self._roots, cotangents, strict=True) if root is not None]
        targets = [x for x in self._targets if x is not None]
        if not pairs or not self._targets:
            return [zeros_like(x) for x in self._inputs]
        if len(targets) < len(self._targets):
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        roots, given = zip(*pairs, strict=True)
        found = autograd.grad_of_level(self._level.inside, roots, targets, given, retain_graph, create_graph)
        return [zeros_like(x) if g is None else g for g, x in zip(found, self._inputs, strict=True)]
