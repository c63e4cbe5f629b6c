"""Guesses at what is wrong with a gradient, by comparing its Jacobian with the true one.

Each test looks for one mistake that people make in a backward; the first that explains every element wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from .case import Array

Shape = tuple[int, ...]


def guess(a: Array, n: Array, x_shape: Shape, out_shape: Shape, rtol: float, atol: float) -> str:
    """The most likely mistake behind the analytical Jacobian ``a`` where ``n`` is right."""
    return next(_guesses(_Pair(a, n, x_shape, out_shape, rtol, atol)), _NOTHING)


_NOTHING = "no simple one: neither a factor, the sign, a transposition, a conjugation, a missing sum nor a missing term explains it"


class _Pair:
    """The two Jacobians and how to compare them."""

    def __init__(self, a: Array, n: Array, x_shape: Shape, out_shape: Shape, rtol: float, atol: float) -> None:
        self.a = a
        self.n = n
        self.x_shape = x_shape
        self.out_shape = out_shape
        self.rtol, self.atol = max(rtol, 1e-6), max(atol, 1e-8)

    def same(self, a: Array, n: Array) -> bool:
        return a.shape == n.shape and bool(np.allclose(a, n, self.rtol, self.atol))

    def zero(self, m: Array) -> Array:
        return np.abs(m) <= self.atol


def _guesses(p: _Pair) -> Iterator[str]:
    yield from _not_finite(p)
    yield from _nothing_arrives(p)
    yield from _factor(p)
    yield from _conjugate(p)
    yield from _ignored(p)
    yield from _transposed(p)
    yield from _not_summed(p)
    yield from _missing_terms(p)
    yield from _scaled(p)


def _not_finite(p: _Pair) -> Iterator[str]:
    if not np.isfinite(p.a).all():
        yield "nan or inf in the backward (a division by zero, the root or the logarithm of 0)"
    elif not np.isfinite(p.n).all():
        yield "the function itself is not finite near this input: check another point"


def _nothing_arrives(p: _Pair) -> Iterator[str]:
    if p.zero(p.a).all():
        yield (
            "missing dependency: no gradient arrives at this input, though the output depends on it (backward returns None or "
            "zeros for it, or a detach(), .data or no_grad cuts the path)"
        )


def _factor(p: _Pair) -> Iterator[str]:
    weight = np.vdot(p.n, p.n)
    if weight == 0:
        return
    c = np.vdot(p.n, p.a) / weight
    if not p.same(p.a, c * p.n):
        return
    if abs(c.imag) > 1e-6 * abs(c):
        yield f"factor: the analytical gradient is {c:.4g} times the numerical one (a missing or wrong 1j, or a conjugation)"
    elif abs(c.real + 1) < 1e-3:
        yield "sign: the analytical gradient is the numerical one with the sign changed"
    else:
        yield f"factor: the analytical gradient is {_number(float(c.real))} times the numerical one{_why(float(c.real), p)}"


def _number(c: float) -> str:
    simple = Fraction(c).limit_denominator(64)
    return str(simple) if abs(float(simple) - c) < 1e-4 * abs(c) else f"{c:.4g}"


def _why(c: float, p: _Pair) -> str:
    """What a factor that is the size of something hints at."""
    sizes = {int(np.prod(p.x_shape)), int(np.prod(p.out_shape)), *p.x_shape, *p.out_shape} - {0, 1, 2}
    for size in sorted(sizes):
        if abs(c * size - 1) < 1e-3:
            return f" (1 / {size}, the size of a dimension: a mean in place of a sum?)"
        if abs(c / size - 1) < 1e-3:
            return f" ({size}, the size of a dimension: a sum in place of a mean, or summed once too often?)"
    return ""


def _conjugate(p: _Pair) -> Iterator[str]:
    if p.a.dtype.kind == "c" and p.same(p.a, p.n.conj()):
        yield "conj: the analytical gradient is the complex conjugate of the numerical one"


def _ignored(p: _Pair) -> Iterator[str]:
    if p.a.shape[1] > 1 and p.same(p.a, np.broadcast_to(p.a[:, :1], p.a.shape)):
        yield "the backward does not depend on the incoming gradient: it is not multiplied by it"


def _transposed(p: _Pair) -> Iterator[str]:
    if p.same(p.a, p.n.T):
        yield "transpose: the analytical Jacobian is the transposed numerical one (a matrix used in place of its transpose)"
    elif len(p.x_shape) == 2:
        rows, columns = p.x_shape
        turned = p.n.reshape(rows, columns, -1).swapaxes(0, 1).reshape(p.n.shape)
        if p.same(p.a, turned):
            yield "transpose: the gradient of this input is transposed"


def _not_summed(p: _Pair) -> Iterator[str]:
    """The gradient at one index of a dimension only, where the true one is at others too."""
    shape = (*p.x_shape, *p.out_shape)
    a, n = p.a.reshape(shape), p.n.reshape(shape)
    for axis, size in enumerate(shape):
        there = [k for k in range(size) if not p.zero(a.take(k, axis)).all()]
        if len(there) != 1 or size == 1:
            continue
        k = there[0]
        if p.same(a.take(k, axis), n.take(k, axis)):
            if axis >= len(p.x_shape):
                dim = axis - len(p.x_shape)
                yield f"missing sum: the incoming gradient is taken at index {k} of dimension {dim} and not summed over it"
            else:
                yield f"missing broadcast: only index {k} of dimension {axis} of this input gets its gradient"


def _missing_terms(p: _Pair) -> Iterator[str]:
    missing = p.zero(p.a) & ~p.zero(p.n)
    extra = ~p.zero(p.a) & p.zero(p.n)
    if missing.any() and p.same(np.where(missing, p.n, p.a), p.n):
        square = missing.shape[0] == missing.shape[1] and not missing.diagonal().any()
        what = (
            "only the diagonal is there: every output depends on the other elements too"
            if square
            else "the others are right"
        )
        yield f"missing dependency: {int(missing.sum())} elements are zero that should not be; {what}"
    elif extra.any() and p.same(np.where(extra, p.n, p.a), p.n):
        count = int(extra.sum())
        yield f"dependency too many: {count} elements should be zero (an index or a mask forgotten?); the others are right"


def _scaled(p: _Pair) -> Iterator[str]:
    """One factor for each element of the input or of the output: something multiplied, or forgotten, elementwise.

    Where each of them has a single derivative that would explain anything, and so nothing.
    """
    for axis, whose in ((1, "input"), (0, "output")):
        weight = (np.abs(p.n) ** 2).sum(axis, keepdims=True)
        c = (p.n.conj() * p.a).sum(axis, keepdims=True) / np.where(weight == 0, 1, weight)
        if np.count_nonzero(weight) < np.count_nonzero(~p.zero(p.n)) and p.same(p.a, c * p.n):
            shown = ", ".join(f"{v:.4g}" for v in c.reshape(-1)[:4])
            yield f"factor: a wrong factor for each element of the {whose} ({shown}{', ...' if c.size > 4 else ''})"
