"""Derivatives by central differences: an input's buffer is changed in place, the function called, the buffer restored."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import several
from ..tensor import Tensor
from .case import Array, Case, as_tuple
from .places import kept, put, write


def jacobians(case: Case) -> list[list[Array]]:
    """By input that requires grad and by floating output the matrix of shape ``(input.numel(), output.numel())``.

    For a complex input it holds the conjugate Wirtinger derivatives, which is what gradients are.
    """
    return [_jacobian(case, x) for x in case.wanted_inputs]


def _jacobian(case: Case, x: Tensor) -> list[Array]:
    outs = _real(case, [o._a for o in case.outputs])
    found = [np.zeros((x.numel(), o.size), x.dtype if x.dtype.kind == "c" else o.dtype) for o in outs]
    for k, index in enumerate(np.ndindex(x.shape)):
        direction = np.zeros(x.shape, x.dtype)
        direction[index] = 1
        for matrix, column in zip(
            found, _real(case, _along(case, x, direction, direction, f"on index {index} ")), strict=True
        ):
            if column.size != matrix.shape[1]:
                raise _resized(matrix.shape[1], column.size)
            matrix[k] = column
    return found


def products(case: Case, x: Tensor, u: tuple[Array, Array | None]) -> list[Array]:
    """By output the derivative along ``u``, a direction for the real and one for the imaginary part of ``x``."""
    real, imag = u
    return _along(case, x, real.reshape(x.shape), None if imag is None else imag.reshape(x.shape), "")


def _real(case: Case, by_output: list[Array]) -> list[Array]:
    """What belongs to the floating outputs."""
    return [by_output[i] for i in case.real_outputs]


def _along(case: Case, x: Tensor, real: Array, imag: Array | None, where: str) -> list[Array]:
    found = _difference(case, x, real, where)
    if x.dtype.kind != "c":
        return found
    assert imag is not None
    return [d + 1j * e for d, e in zip(found, _difference(case, x, 1j * imag, where), strict=True)]


def _difference(case: Case, x: Tensor, direction: Array, where: str) -> list[Array]:
    """Every output's difference quotient, flat, for steps of ``eps`` along ``direction``; bools have none."""
    if not isinstance(case.eps, int | float | np.number):
        raise TypeError(f"unsupported operand type(s) for -: 'Tensor' and '{type(case.eps).__name__}'")
    there = put(direction, x)._a
    with several.home((x._a,)):
        before = x._a.copy()
        below, above = before - case.eps * there, before + case.eps * there
    try:
        write(x, below)
        low = values(case)
        write(x, above)
        high = values(case)
    finally:
        write(x, before)
    for a, b in zip(low, high, strict=True):
        for what, one, other in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype)):
            if one != other:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are perturbed {where}by {case.eps}, but "
                    f"got: {what}s {_shown(one)} and {_shown(other)}."
                )
    if any(a.dtype.kind == "b" for a in low):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
            "instead."
        )
    return [((b - a) / (2 * case.eps)).reshape(-1) for a, b in zip(low, high, strict=True)]


def values(case: Case) -> list[Array]:
    """The outputs for the inputs as they are now, as buffers of their own on the host."""
    return [kept(o) for o in as_tuple(case.func(*case.inputs))]


def _shown(shape_or_dtype: Any) -> str:
    return f"torch.Size({list(shape_or_dtype)})" if isinstance(shape_or_dtype, tuple) else f"torch.{shape_or_dtype}"


def _resized(expected: int, found: int) -> Exception:
    return RuntimeError(
        f"The expanded size of the tensor ({expected}) must match the existing size ({found}) at non-singleton dimension 0.  "
        f"Target sizes: [{expected}].  Tensor sizes: [{found}]"
    )
