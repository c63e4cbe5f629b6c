"""The comparison itself: whole Jacobians (slow mode), or one random combination of their elements (fast mode)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..tensor import wrap
from . import analytical, numerical
from .case import Array, Case, GradcheckError, close
from .report import report


def slow(case: Case) -> None:
    """Compare every element of every Jacobian; raises :class:`GradcheckError` for the first pair that differs."""
    expected = numerical.jacobians(case)
    if not case.differentiable:
        _check_zero([m for row in expected for m in row], 0.0)
        return
    by_forward = analytical.forward_jacobians(case) if case.forward else []
    for o, position in enumerate(case.differentiable):
        column = case.real_outputs.index(position)
        found = (
            [row[column] for row in by_forward]
            if case.forward
            else analytical.backward_jacobians(case, case.outputs[position])
        )
        for i, a in enumerate(found):
            n = expected[i][column]
            if not close(a, n, case.rtol, case.atol):
                raise failed(case, o, i, case.mismatch(o, i, wrap(n), wrap(a)), a, n)


def fast(case: Case) -> None:
    """Compare one number for each pair of an input and an output: ``v @ Jacobian @ u`` for random unit vectors.

    In forward mode the vectors ``Jacobian @ u`` are compared.
    """
    random = np.random.default_rng(2147483647)  # its own, so that the user's numbers stay as they are
    inputs = case.wanted_inputs
    us = [_directions(random, x._a) for x in inputs]
    vs = [_unit(random, case.outputs[p].numel()) for p in case.differentiable]
    if not case.differentiable:
        for x, u in zip(inputs, us, strict=True):
            _check_zero(numerical.products(case, x, u), case.nondet_tol)
    rows = [] if case.forward else _pulled(case, vs)
    for i, (x, u) in enumerate(zip(inputs, us, strict=True)):
        along = numerical.products(case, x, u)
        pushed = analytical.forward_products(case, i, u[0]) if case.forward else []
        for o, position in enumerate(case.differentiable):
            if case.forward:
                a, n, weight = pushed[case.real_outputs.index(position)], along[position], 1.0
            else:
                a, n, weight = _dot(rows[o][i], u), np.sum(vs[o] * along[position]), float(vs[o].sum())
            atol = case.atol * float(sum(part.sum() for part in u if part is not None)) * weight
            if not close(a, n, case.rtol, atol):
                raise _fast_failed(case, o, i, a, n)


def _pulled(case: Case, vs: list[Array]) -> list[list[Array]]:
    return [
        analytical.backward_products(case, case.outputs[p], v.astype(case.outputs[p].dtype))
        for p, v in zip(case.differentiable, vs, strict=True)
    ]


def _dot(row: Array, u: tuple[Array, Array | None]) -> Any:
    real, imag = u
    return np.dot(row, real) if imag is None else np.dot(row.real, real) + 1j * np.dot(row.imag, imag)


def _directions(random: np.random.Generator, a: Array) -> tuple[Array, Array | None]:
    return _unit(random, a.size), _unit(random, a.size) if a.dtype.kind == "c" else None


def _unit(random: np.random.Generator, size: int) -> Array:
    """A vector of length 1 without negative elements, so that nothing cancels."""
    v = random.random(size)
    return v / np.linalg.norm(v) if size else v


def _check_zero(found: list[Array], tolerance: float) -> None:
    if any(m.size and np.abs(m).max() > tolerance for m in found):
        raise errors.make(
            GradcheckError,
            errors.Details("gradcheck"),
            "Numerical gradient for function expected to be zero",
            "no output requires grad, but the outputs change with the inputs: the graph is cut in the function (detach(), .data, "
            "no_grad, NumPy, or an output marked as non-differentiable)",
        )


def _fast_failed(case: Case, o: int, i: int, a: Any, n: Any) -> Exception:
    """The error of fast mode, with the whole Jacobians for the report."""
    column = case.real_outputs.index(case.differentiable[o])
    whole_n = numerical.jacobians(case)[i][column]
    whole_a = (
        analytical.forward_jacobians(case)[i][column]
        if case.forward
        else analytical.backward_jacobians(case, case.outputs[case.differentiable[o]])[i]
    )
    text = case.mismatch(o, i, wrap(np.asarray(n)), wrap(np.asarray(a)))
    text += (
        "These numbers are of fast mode. The whole Jacobians:\n"
        f"numerical:{wrap(whole_n)!r}\nanalytical:{wrap(whole_a)!r}\n"
    )
    if close(whole_a, whole_n, case.rtol, case.atol):
        text += "Element by element they are close: the check passes with fast_mode=False\n"
    return failed(case, o, i, text, whole_a, whole_n)


def failed(case: Case, o: int, i: int, text: str, a: Array, n: Array) -> Exception:
    """The error for Jacobians ``a`` and ``n`` of output ``o`` by input ``i``: PyTorch's text, then the report."""
    return errors.make(GradcheckError, errors.Details("gradcheck"), text.rstrip("\n"), *report(case, o, i, a, n))
