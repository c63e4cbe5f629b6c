"""A histogram of all elements, how many are zero and how far they are from their mean, in one launch: for a page of a tensor.

As in :mod:`.summary` every thread goes through its share and every block adds what its threads found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .summary import NAMES, THREADS, blocks, flattened

SOURCE = r"""
extern "C" __global__ void spread(
        const NUMBER* x, unsigned long long n, double mean, const double* edges, unsigned long long* out) {
    __shared__ double squares[THREADS];
    __shared__ unsigned long long zeros[THREADS];
    __shared__ unsigned long long counts[BINS + 1];
    const unsigned int me = threadIdx.x;
    for (int i = me; i < BINS; i += THREADS) counts[i] = 0;
    __syncthreads();
    double sum = 0;
    unsigned long long zero = 0;
    const unsigned long long step = gridDim.x * (unsigned long long)THREADS;
    for (unsigned long long k = blockIdx.x * (unsigned long long)THREADS + me; k < n; k += step) {
        const double v = (double)x[k];
        if (!(fabs(v) <= 1.7976931348623157e308)) continue;
        sum += (v - mean) * (v - mean);
        if (v == 0) zero++;
        if (BINS) {
            int at = (int)((v - edges[0]) / (edges[BINS] - edges[0]) * BINS);
            if (at == BINS) at--;
            if (v < edges[at]) at--;
            else if (at + 1 < BINS && v >= edges[at + 1]) at++;
            atomicAdd(counts + at, 1ULL);
        }
    }
    squares[me] = sum; zeros[me] = zero;
    __syncthreads();
    for (unsigned int half = THREADS / 2; half > 0; half /= 2) {
        if (me < half) {
            squares[me] += squares[me + half];
            zeros[me] += zeros[me + half];
        }
        __syncthreads();
    }
    if (me == 0) {
        atomicAdd((double*)out, squares[0]);
        atomicAdd(out + 1, zeros[0]);
    }
    for (int i = me; i < BINS; i += THREADS) atomicAdd(out + 2 + i, counts[i]);
}
"""
"""In CUDA C; NUMBER, THREADS and BINS are macros. An element is counted where NumPy's histogram counts it."""


class Spreads:
    """The kernel for each dtype and number of bins, compiled when first used."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._kernels: dict[tuple[str, int], Any] = {}

    def __call__(self, array: Any, mean: float, edges: Any) -> Any:
        """The words that tell of ``array``, on its device, between ``edges`` (an array of NumPy)."""
        flat, bins = flattened(self._cupy, array), max(len(edges) - 1, 0)
        out = self._cupy.array(np.zeros(2 + bins, np.uint64))
        given = (flat, np.uint64(flat.size), np.float64(mean), self._cupy.array(edges), out)
        self._kernel(flat.dtype.char, bins)((blocks(flat.size),), (THREADS,), given)
        return out

    def _kernel(self, kind: str, bins: int) -> Any:
        found = self._kernels.get((kind, bins))
        if found is None:
            options = (f"-DNUMBER={NAMES[kind]}", f"-DTHREADS={THREADS}", f"-DBINS={bins}")
            found = self._kernels[kind, bins] = self._cupy.RawKernel(SOURCE, "spread", options)
        return found
