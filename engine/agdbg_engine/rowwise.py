"""Formulas along rows that are one kernel where a device has kernels: sums of every row, and then every element from them.

As in :mod:`.fused`, a formula is a few expressions in C beside what NumPy computes: gradients of softmax and of normalisations.
They would take several launches, and as much memory between them. Tests compile the C for the CPU and compare the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .backends import on_host

THREADS = 256

_SOURCE = r"""
extern "C" __global__ void @NAME@(
        @PARAMETERS@, NUMBER* out_, unsigned long long n, unsigned long long rows, unsigned long long inner) {
    typedef NUMBER T;
    __shared__ double parts[@SUMS@][THREADS];
    const unsigned int me = threadIdx.x;
    for (unsigned long long row = blockIdx.x; row < rows; row += gridDim.x) {
        @READ_ROW@
        double sums[@SUMS@] = {0};
        for (unsigned long long k = me; k < n; k += THREADS) {
            const unsigned long long at = (k / inner * rows + row) * inner + k % inner;
            @READ@
            @ADD@
        }
        for (int i = 0; i < @SUMS@; i++) parts[i][me] = sums[i];
        __syncthreads();
        for (unsigned int half = THREADS / 2; half > 0; half /= 2) {
            if (me < half) for (int i = 0; i < @SUMS@; i++) parts[i][me] += parts[i][me + half];
            __syncthreads();
        }
        @TOTALS@
        for (unsigned long long k = me; k < n; k += THREADS) {
            const unsigned long long at = (k / inner * rows + row) * inner + k % inner;
            @READ@
            out_[at] = @RESULT@;
        }
        __syncthreads();
    }
}
"""


class Layout(NamedTuple):
    """``rows`` of ``n`` elements: runs of ``inner`` elements of a row lie side by side, then those of the next row."""

    n: int
    rows: int
    inner: int


def layout(shape: tuple[int, ...], dims: tuple[int, ...]) -> Layout | None:
    """How the elements along ``dims`` lie as rows in a contiguous array; ``None`` where they do not lie so."""
    ndim = len(shape)
    along = sorted(d % ndim for d in dims) if ndim else []
    rest = [d for d in range(ndim) if d not in along]
    if not along or (rest and rest != list(range(rest[0], rest[-1] + 1))):
        return None
    n, rows = (math.prod(shape[d] for d in part) for part in (along, rest))
    last = rest[-1] + 1 if rest else 0
    return Layout(n, rows, math.prod(shape[last:])) if n and rows else None


@dataclass(frozen=True)
class Rowwise:
    """A formula along rows.

    Attributes:
        inputs: names of arrays of one shape and dtype (float32 or float64).
        by_row: names of arrays with one number for each row.
        sums: what is summed along each row, in C; they are ``sum0``, ``sum1``...
        result: each element, in C, which may use ``n``, the length of a row.
    """

    name: str
    inputs: str
    by_row: str
    sums: tuple[str, ...]
    result: str

    def source(self) -> str:
        """The kernel in CUDA C; NUMBER and THREADS are macros."""
        inputs, by_row = self.inputs.split(), self.by_row.split()
        filled = {
            "PARAMETERS": ", ".join(f"const NUMBER* in_{name}" for name in (*inputs, *by_row)),
            "READ_ROW": " ".join(f"const T {name} = in_{name}[row];" for name in by_row),
            "READ": " ".join(f"const T {name} = in_{name}[at];" for name in inputs),
            "ADD": " ".join(f"sums[{i}] += (double)({text});" for i, text in enumerate(self.sums)),
            "TOTALS": " ".join(f"const T sum{i} = (T)parts[{i}][0];" for i in range(len(self.sums))),
            "RESULT": self.result,
            "SUMS": str(len(self.sums)),
            "NAME": self.name,
        }
        text = _SOURCE
        for name, value in filled.items():
            text = text.replace(f"@{name}@", value)
        return text

    def __call__(self, dims: tuple[int, ...], arrays: tuple[Any, ...], by_row: tuple[Any, ...] = ()) -> Any:
        """The result on the device of ``arrays``; ``None`` where there is no kernel for them."""
        first = arrays[0]
        if on_host(first) or first.dtype.char not in "fd":
            return None
        place = layout(first.shape, dims)
        if place is None or any(a.dtype != first.dtype for a in (*arrays, *by_row)):
            return None
        if any(a.shape != first.shape for a in arrays) or any(a.size != place.rows for a in by_row):
            return None
        from .backends import backend_of

        return backend_of(first).rowwise(self, place, arrays, by_row)


ROWWISE: dict[str, Rowwise] = {}
"""All of them, by name."""


def rowwise(name: str, inputs: str, sums: tuple[str, ...], result: str, by_row: str = "") -> Rowwise:
    """Declare a formula."""
    if name in ROWWISE:
        raise ValueError(f"there is a formula along rows {name} already: C has one space of names")
    made = ROWWISE[name] = Rowwise(name, inputs, by_row, sums, result)
    return made


class RowKernels:
    """The kernels of one array library that has CuPy's ``RawKernel``, compiled when first used."""

    MOST_BLOCKS = 65535

    def __init__(self, library: Any) -> None:
        self._library = library
        self._kernels: dict[tuple[str, str], Any] = {}

    def __call__(self, formula: Rowwise, place: Layout, arrays: tuple[Any, ...], by_row: tuple[Any, ...]) -> Any:
        """The result of ``formula`` in one launch."""
        given = [self._library.ascontiguousarray(a) for a in (*arrays, *by_row)]
        out = self._library.empty(arrays[0].shape, arrays[0].dtype)
        numbers = (np.uint64(part) for part in place)
        kernel = self._kernel(formula, arrays[0].dtype.char)
        kernel((min(place.rows, self.MOST_BLOCKS),), (THREADS,), (*given, out, *numbers))
        return out

    def _kernel(self, formula: Rowwise, kind: str) -> Any:
        found = self._kernels.get((formula.name, kind))
        if found is None:
            options = (f"-DNUMBER={'float' if kind == 'f' else 'double'}", f"-DTHREADS={THREADS}")
            made = self._library.RawKernel(formula.source(), formula.name, options)
            found = self._kernels[formula.name, kind] = made
        return found
