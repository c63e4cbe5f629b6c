"""Derivatives as the engine computes them: rows of the Jacobian by backward passes, columns by forward mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import errors
from ..autograd import grad
from ..tensor import Tensor
from .case import Array, Case, GradcheckError, as_tuple
from .places import fetched, kept, put


def backward_jacobians(case: Case, output: Tensor) -> list[Array]:
    """By input that requires grad the matrix of shape ``(input.numel(), output.numel())`` for ``output``."""
    return _twice(case, output, lambda: _units(output))


def backward_products(case: Case, output: Tensor, v: Array) -> list[Array]:
    """By input that requires grad ``v @ Jacobian`` of ``output``, flat."""
    return [m[:, 0] for m in _twice(case, output, lambda: iter([v.reshape(output.shape)]))]


def _units(output: Tensor) -> Iterator[Array]:
    for k in range(output.numel()):
        unit = np.zeros(output.numel(), output.dtype)
        unit[k] = 1
        yield unit.reshape(output.shape)


def _twice(case: Case, output: Tensor, vectors: Any) -> list[Array]:
    """The gradients for all ``vectors()``, one a column, by input; computed twice to see that they are the same."""
    first, second = (_columns(case, output, list(vectors())) for _ in range(2))
    if not all(_near(a, b, case.nondet_tol) for a, b in zip(first, second, strict=True)):
        raise errors.make(
            GradcheckError,
            errors.Details("gradcheck"),
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
            "values, although analytical gradient matches numerical gradient."
            f"The tolerance for nondeterminism was {case.nondet_tol}.",
            "the backward of this function draws random numbers, or depends on state that it changes",
            "if that is meant: nondet_tol=<tolerance>",
        )
    return first


def _near(a: Array, b: Array, tolerance: float) -> bool:
    if not isinstance(tolerance, int | float | np.number):
        raise TypeError(f"'>' not supported between instances of 'Tensor' and '{type(tolerance).__name__}'")
    return a.size == 0 or not bool(np.abs(a - b).max() > tolerance)


def _columns(case: Case, output: Tensor, vectors: list[Array]) -> list[Array]:
    inputs, clone = case.wanted_inputs, output.clone()
    found = [np.zeros((x.numel(), len(vectors)), x.dtype) for x in inputs]
    for k, v in enumerate(vectors):
        gradients = grad(clone, inputs, put(v, output), retain_graph=True, allow_unused=True)
        for matrix, g in zip(found, gradients, strict=True):
            if g is not None:
                matrix[:, k] = fetched(g).reshape(-1)
    return found


def forward_jacobians(case: Case) -> list[list[Array]]:
    """By input that requires grad and floating output the matrix ``(input.numel(), output.numel())``, by forward mode."""
    inputs = case.wanted_inputs
    outs = [case.outputs[i] for i in case.real_outputs]
    found = [[np.zeros((x.numel(), o.numel()), o.dtype) for o in outs] for x in inputs]
    for i, x in enumerate(inputs):
        for k, unit in enumerate(_units(x)):
            for matrix, t in zip(found[i], forward_products(case, i, unit), strict=True):
                matrix[k] = t
    return found


def forward_products(case: Case, i: int, u: Array) -> list[Array]:
    """By floating output the tangent, flat, for the direction ``u`` of the ``i``-th input that requires grad."""
    from .. import forward_ad

    with forward_ad.dual_level():
        arguments = list(case.inputs)
        for n, position in enumerate(case.wanted):
            x = case.inputs[position].detach()
            tangent = u.reshape(x.shape).astype(x.dtype) if n == i else np.zeros(x.shape, x.dtype)
            arguments[position] = forward_ad.make_dual(x, put(tangent, x))
        outs = as_tuple(case.func(*arguments))
        return [_tangent(case, outs[n]) for n in case.real_outputs]


def _tangent(case: Case, dual: Tensor) -> Array:
    from .. import forward_ad

    primal, tangent = forward_ad.unpack_dual(dual)
    if tangent is None:
        return np.zeros(primal.numel(), primal.dtype)
    if case.check_grad_dtypes and (primal.dtype.kind == "c") != (tangent.dtype.kind == "c"):
        raise GradcheckError("Forward AD gradient has dtype mismatch.")
    return kept(tangent).reshape(-1)
