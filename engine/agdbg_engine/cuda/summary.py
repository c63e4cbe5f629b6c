"""Norm, largest, NaNs, infinities and the place of the first of them, range and sum, of all elements in one launch: for a debugger.

Every thread goes through its share, every block puts what its threads found together, and eight atomic operations a block give the
result: words that stay on the device until somebody looks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..summaries import START

THREADS = 256
MOST_BLOCKS = 1024

SOURCE = r"""
static __device__ unsigned long long ordered(double v) {
    const unsigned long long bits = (unsigned long long)__double_as_longlong(v);
    return bits >> 63 ? ~bits : bits | 1ULL << 63;
}
extern "C" __global__ void summary(const NUMBER* x, unsigned long long n, unsigned long long* out) {
    __shared__ double squares[THREADS];
    __shared__ double largest[THREADS];
    __shared__ unsigned long long nans[THREADS];
    __shared__ unsigned long long infs[THREADS];
    __shared__ unsigned long long first[THREADS];
    __shared__ unsigned long long lows[THREADS];
    __shared__ unsigned long long highs[THREADS];
    __shared__ double totals[THREADS];
    const unsigned int me = threadIdx.x;
    double sum = 0, top = 0, total = 0;
    unsigned long long nan_count = 0, inf_count = 0, bad = ~0ULL, low = ~0ULL, high = 0;
    const unsigned long long step = gridDim.x * (unsigned long long)THREADS;
    for (unsigned long long k = blockIdx.x * (unsigned long long)THREADS + me; k < n; k += step) {
        const double v = (double)x[k];
        const double size = fabs(v);
        if (size <= 1.7976931348623157e308) {
            sum += v * v;
            if (size > top) top = size;
        } else {
            if (v != v) nan_count++; else inf_count++;
            if (k < bad) bad = k;
        }
        if (v == v) {
            const unsigned long long place = ordered(v);
            if (place < low) low = place;
            if (place > high) high = place;
            total += v;
        }
    }
    squares[me] = sum; largest[me] = top; nans[me] = nan_count; infs[me] = inf_count; first[me] = bad;
    lows[me] = low; highs[me] = high; totals[me] = total;
    __syncthreads();
    for (unsigned int half = THREADS / 2; half > 0; half /= 2) {
        if (me < half) {
            squares[me] += squares[me + half];
            if (largest[me + half] > largest[me]) largest[me] = largest[me + half];
            nans[me] += nans[me + half];
            infs[me] += infs[me + half];
            if (first[me + half] < first[me]) first[me] = first[me + half];
            if (lows[me + half] < lows[me]) lows[me] = lows[me + half];
            if (highs[me + half] > highs[me]) highs[me] = highs[me + half];
            totals[me] += totals[me + half];
        }
        __syncthreads();
    }
    if (me == 0) {
        atomicAdd((double*)out, squares[0]);
        atomicMax(out + 1, (unsigned long long)__double_as_longlong(largest[0]));
        atomicAdd(out + 2, nans[0]);
        atomicAdd(out + 3, infs[0]);
        atomicMin(out + 4, first[0]);
        atomicMin(out + 5, lows[0]);
        atomicMax(out + 6, highs[0]);
        atomicAdd((double*)(out + 7), totals[0]);
    }
}
"""
"""In CUDA C; NUMBER and THREADS are macros. Bits of doubles that are not negative have the order of the doubles: ``atomicMax``."""

NAMES = {"f": "float", "d": "double"}


def flattened(cupy: Any, array: Any) -> Any:
    """The elements of ``array`` as a kernel reads them: side by side, with a dtype of :data:`NAMES`."""
    flat = cupy.ascontiguousarray(abs(array) if array.dtype.kind == "c" else array).reshape(-1)
    return flat if flat.dtype.char in NAMES else flat.astype(np.float64)


def blocks(size: int) -> int:
    """How many blocks of :data:`THREADS` threads go through so many elements."""
    return min(MOST_BLOCKS, -(-size // THREADS)) or 1


class Summaries:
    """The kernel for each dtype, compiled when first used."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._kernels: dict[str, Any] = {}

    def __call__(self, array: Any) -> Any:
        """The words that tell of ``array``, on its device; complex numbers count by their absolute value."""
        flat = flattened(self._cupy, array)
        out = self._cupy.array(START)
        self._kernel(flat.dtype.char)((blocks(flat.size),), (THREADS,), (flat, np.uint64(flat.size), out))
        return out

    def _kernel(self, kind: str) -> Any:
        found = self._kernels.get(kind)
        if found is None:
            options = (f"-DNUMBER={NAMES[kind]}", f"-DTHREADS={THREADS}")
            found = self._kernels[kind] = self._cupy.RawKernel(SOURCE, "summary", options)
        return found
