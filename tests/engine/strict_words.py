"""What the kernels of CUDA write about an array, found by NumPy: see :mod:`agdbg_engine.summaries`."""

import numpy as np

from agdbg_engine.summaries import START, ordered


def words(values):
    """What CUDA's kernel writes about a flat array of NumPy's."""
    sizes = np.abs(values).astype(np.float64)
    values = sizes if values.dtype.kind == "c" else values.astype(np.float64)
    bad, numbers = np.flatnonzero(~np.isfinite(sizes)), values[~np.isnan(values)]
    finite = sizes[np.isfinite(sizes)]
    words = START.copy()
    words[[0, 1, 7]] = np.array([(finite**2).sum(), finite.max(initial=0), numbers.sum()]).view(np.uint64)
    nans = values.size - numbers.size
    words[2:4] = nans, len(bad) - nans
    if len(bad):
        words[4] = bad[0]
    if numbers.size:
        words[5:7] = ordered(numbers.min()), ordered(numbers.max())
    return words


def spread_words(numbers, mean, edges):
    """What the second kernel writes: how a flat array of NumPy's lies about ``mean`` and between ``edges``."""
    numbers = (np.abs(numbers) if numbers.dtype.kind == "c" else numbers).astype(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    with np.errstate(all="ignore"):
        squares = np.array([((numbers - mean) ** 2).sum()]).view(np.uint64)
    counts = np.histogram(numbers, len(edges) - 1, (edges[0], edges[-1]))[0] if len(edges) else []
    found = [np.uint64((numbers == 0).sum()), *np.asarray(counts, np.uint64)]
    return np.concatenate([squares, np.array(found, np.uint64)])
