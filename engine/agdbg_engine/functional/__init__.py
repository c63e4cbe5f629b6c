"""Derivatives of functions: products with the Jacobian and the Hessian, and both as a whole.

Every function takes ``func``, which maps tensors to a tensor or a tuple of them, and ``inputs``, a tensor or a tuple.
With ``create_graph`` the results can be differentiated again, with ``strict`` a result that does not depend on an
input is an error and not zeros.
"""

from __future__ import annotations

from typing import Any

from ..creation import zeros_like
from ..grad_mode import enable_grad
from ..tensor import Tensor
from .args import (
    BACK,
    BACK_TRICK,
    CONSTANT_GRADIENT,
    CONSTANT_JACOBIAN,
    CONSTANT_OUTPUT,
    DOUBLE_BACK,
    DOUBLE_BACK_TRICK,
    OUTPUTS,
    Function,
    Tensors,
    check_dependent,
    check_single,
    filled,
    finished,
    gradients,
    prepared,
    scalar_output,
    tensors,
    unpacked,
    vector,
)
from .matrix import hessian, jacobian

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def vjp(
    func: Function, inputs: Tensors, v: Tensors | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """``(func(*inputs), v @ Jacobian)``; ``v`` has the shapes of the outputs, and may be left out for one number."""
    with enable_grad():
        is_tuple, given = tensors(inputs, "inputs", "vjp")
        xs = prepared(given, create_graph, need_graph=True)
        several, outputs = tensors(func(*xs), OUTPUTS, "vjp")
        check_dependent(outputs, strict, CONSTANT_OUTPUT)
        if v is None:
            check_single(
                outputs,
                "The vector v can only be None if the user-provided function returns a single Tensor with a single element.",
            )
        vs = None if v is None else vector(v, outputs, several, create_graph, "vjp")
        found = filled(gradients(outputs, xs, vs, create_graph), xs, strict, create_graph, BACK)
    return unpacked(finished(outputs, create_graph), several), unpacked(finished(found, create_graph), is_tuple)


def jvp(
    func: Function, inputs: Tensors, v: Tensors | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """``(func(*inputs), Jacobian @ v)``, by differentiating a backward pass, which is linear in its gradient, backwards.

    Forward mode (:func:`.func.jvp`) does the same with less work.
    """
    with enable_grad():
        is_tuple, given = tensors(inputs, "inputs", "jvp")
        xs = prepared(given, create_graph, need_graph=True)
        vs = _input_vector(v, xs, is_tuple, create_graph, "jvp")
        several, outputs = tensors(func(*xs), OUTPUTS, "jvp")
        check_dependent(outputs, strict, CONSTANT_OUTPUT)
        weights = tuple(zeros_like(o, requires_grad=True) for o in outputs)
        back = gradients(outputs, xs, weights, create_graph=True)
        check_dependent(back, strict, CONSTANT_GRADIENT)
        found = filled(gradients(back, weights, vs, create_graph), outputs, strict, create_graph, BACK_TRICK)
    return unpacked(finished(outputs, create_graph), several), unpacked(finished(found, create_graph), several)


def vhp(
    func: Function, inputs: Tensors, v: Tensors | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """``(func(*inputs), v @ Hessian)`` of a function that returns one number; ``v`` has the shapes of the inputs."""
    with enable_grad():
        is_tuple, given = tensors(inputs, "inputs", "vhp")
        xs = prepared(given, create_graph, need_graph=True)
        vs = _input_vector(v, xs, is_tuple, create_graph, "vhp")
        outputs = scalar_output(func(*xs), strict, "vhp")
        jac = gradients(outputs, xs, create_graph=True)
        check_dependent(jac, strict, CONSTANT_JACOBIAN)
        found = filled(gradients(jac, xs, vs, create_graph), xs, strict, create_graph, DOUBLE_BACK)
    return finished(outputs, create_graph)[0], unpacked(finished(found, create_graph), is_tuple)


def hvp(
    func: Function, inputs: Tensors, v: Tensors | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """``(func(*inputs), Hessian @ v)`` of a function that returns one number; :func:`vhp` is cheaper, and the same where
    the second derivatives are continuous.
    """
    with enable_grad():
        is_tuple, given = tensors(inputs, "inputs", "hvp")
        xs = prepared(given, create_graph, need_graph=True)
        vs = _input_vector(v, xs, is_tuple, create_graph, "hvp")
        outputs = scalar_output(func(*xs), strict, "hvp")
        jac = gradients(outputs, xs, create_graph=True)
        check_dependent(jac, strict, CONSTANT_JACOBIAN)
        weights = tuple(zeros_like(x, requires_grad=True) for x in xs)
        back = gradients(jac, xs, weights, create_graph=True)
        found = filled(gradients(back, weights, vs, create_graph), xs, strict, create_graph, DOUBLE_BACK_TRICK)
    return finished(outputs, create_graph)[0], unpacked(finished(found, create_graph), is_tuple)


def _input_vector(
    v: Tensors | None, xs: tuple[Tensor, ...], is_tuple: bool, create_graph: bool, name: str
) -> tuple[Tensor, ...] | None:
    """``v`` checked against the inputs; ``None`` stays so for one number."""
    if v is not None:
        return vector(v, xs, is_tuple, create_graph, name)
    check_single(
        xs,
        "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element.",
    )
    return None
