"""What is wrong with a Jacobian: its worst element by name, and a guess at the mistake.

All matrices here have the shape ``(input elements, output elements)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Array, Case
from .guess import guess
from .numerical import values
from .places import kept, put, write


def report(case: Case, o: int, i: int, a: Array, n: Array) -> list[str]:
    """Lines about the analytical ``a`` and the numerical ``n`` of output ``o`` by input ``i`` of ``case``."""
    x = case.wanted_inputs[i]
    out = case.outputs[case.differentiable[o]]
    excess = np.abs(a - n) - (case.atol + case.rtol * np.abs(n))
    excess = np.where(np.isnan(excess), np.inf, excess)
    if not excess.size or excess.max() <= 0:
        return []
    k, m = np.unravel_index(int(excess.argmax()), excess.shape)
    x_index, out_index = np.unravel_index(k, x.shape or (1,)), np.unravel_index(m, out.shape or (1,))
    lines = [
        f"worst element: output {o}{_index(out.shape, out_index)}, input {i}{_index(x.shape, x_index)}: "
        f"numerical {n[k, m]:.6g}, analytical {a[k, m]:.6g}",
        f"{int((excess > 0).sum())} of {excess.size} elements differ by more than atol={case.atol:g} + rtol={case.rtol:g} * "
        "abs(numerical)",
    ]
    if _varies(case):
        lines.append("guess: the function is not deterministic: two calls with the same inputs gave different results")
        return lines
    if x.dtype.itemsize < (16 if x.dtype.kind == "c" else 8):
        lines.append(f"input {i} is torch.{x.dtype}: differences of eps={case.eps:g} need double precision")
    elif _kink(case, o, i, int(k), int(m), a[k, m]):
        lines.append(
            "guess: not differentiable here: the slopes to the left and to the right differ, both may be right"
        )
        return lines
    return [*lines, f"guess: {guess(a, n, x.shape, out.shape, case.rtol, case.atol)}"]


def _index(shape: tuple[int, ...], index: Any) -> str:
    return f"[{', '.join(str(int(j)) for j in index)}]" if shape else ""


def _varies(case: Case) -> bool:
    """Whether two calls with the same inputs give different results, by more than the tolerances."""
    once, again = values(case), values(case)
    shapes = [each.shape for each in once] == [each.shape for each in again]
    return not shapes or not all(
        np.allclose(one, other, rtol=case.rtol, atol=case.atol, equal_nan=True)
        for one, other in zip(once, again, strict=True)
    )


def _kink(case: Case, o: int, i: int, k: int, m: int, slope: Any) -> bool:
    """Whether element ``m`` of the output has other slopes on the two sides of element ``k`` of the (real) input, and
    ``slope`` is one of those between.
    """
    x = case.wanted_inputs[i]
    if x.dtype.kind == "c" or np.iscomplexobj(slope):
        return False
    column = case.real_outputs.index(case.differentiable[o])
    index = np.unravel_index(k, x.shape) if x.shape else ()
    before = kept(x)
    found = []
    try:
        for step in (-1, 0, 1):
            write(x, float(before[index] + step * case.eps), index)
            found.append(values(case)[case.real_outputs[column]].reshape(-1)[m])
    finally:
        write(x, put(before, x)._a)
    low, high = sorted(((found[1] - found[0]) / case.eps, (found[2] - found[1]) / case.eps))
    apart = 0.1 * max(abs(low), abs(high), case.atol)
    return bool(high - low > apart and low - case.atol <= slope <= high + case.atol)
