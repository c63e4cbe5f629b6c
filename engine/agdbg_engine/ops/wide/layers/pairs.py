"""Distances between all pairs of rows of one set, and their gradient without a list of the pairs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....device import beside
from ....tensor import Tensor
from ... import graph, kernels
from ...explain import shape_error
from ..declare import OPS, in_both, op, public
from .distances import distance_grad, norms

BLOCK = 1 << 16
"""Elements of the differences that are looked at together."""


def _pairs(x: Any) -> tuple[Any, Any]:
    first, second = (beside(i, x._a if isinstance(x, Tensor) else x) for i in np.triu_indices(x.shape[0], 1))
    return first, second


def within(F: Any, x: Any) -> Any:
    """Differences of all pairs of rows, the later from the earlier."""
    first, second = _pairs(x)
    return F.index(x, (first,)) - F.index(x, (second,))


# ----- distances -----

_METRICS = {0.0: "hamming", 1.0: "cityblock", 2.0: "sqeuclidean", math.inf: "chebyshev"}
"""What SciPy calls the distance of a p; it adds up in double."""


def _distances(x: Any, p: float) -> Any:
    if p not in _METRICS or not _plain(x):
        return norms(within(kernels, x), p)
    from scipy.spatial import distance  # by those alone who need it: it takes a third of a second

    found = distance.pdist(x, _METRICS[p])
    if p == 0:  # SciPy has the share of components that differ
        return np.rint(found * x.shape[1]).astype(x.dtype)
    return np.sqrt(found.astype(x.dtype)) if p == 2 else found.astype(x.dtype)  # squares leave the range as in PyTorch


def _plain(x: Any) -> bool:
    """Whether ``x`` is on the host, of a dtype that SciPy reads, not empty, and finite."""
    return type(x) is np.ndarray and x.dtype.char in "fd" and x.size > 0 and len(x) > 1 and bool(np.isfinite(x).all())


# ----- gradients -----


def _gradient(g: Any, x: Any, result: Any, p: float) -> Any:
    """The gradient in ``x`` from those ``g`` of the distances ``result``."""
    if not _plain(x):
        return _by_pairs(kernels, g, x, result, p)
    if p == 0:
        return np.zeros_like(x)
    from scipy.spatial import distance

    grads, results = (distance.squareform(np.ascontiguousarray(each), checks=False) for each in (g, result))
    share = kernels.drop(grads / np.where(results == 0, 1, results), results == 0) if p == 2 else grads
    if p == 2 and x.dtype.char == "f" and np.isfinite(share).all():
        return _by_product(share, x)
    out, columns = np.empty(x.shape, x.dtype), np.ascontiguousarray(x.T)
    rows = max(1, BLOCK // x.size)
    for start in range(0, len(x), rows):
        part = slice(start, start + rows)
        if p in (1, 2, math.inf):
            towards = _directions(x[part, :, None] - columns, results[part], p)
            out[part] = np.matmul(towards, share[part, :, None])[..., 0]
        else:
            each = distance_grad(kernels, grads[part], x[part, None] - x, results[part], p)
            out[part] = np.add.reduce(each, 1)
    return out


def _directions(difference: Any, results: Any, p: float) -> Any:
    """What the gradient of a distance is multiplied by, from the differences (rows, M, N) of some rows from all."""
    if p == 2:
        return difference
    signs = np.subtract(difference > 0, difference < 0, dtype=np.int8)
    if p == math.inf:
        signs *= np.abs(difference, difference) == results[:, None]
    return signs.astype(difference.dtype)


def _by_product(share: Any, x: Any) -> Any:
    """That of Euclidean distances from gradients over distances (N, N), by one product of matrices in double.

    The difference of two rows cancels in it. Rows of single precision differ by 6e-8 of their size or not at all, and double
    precision has that to 2e-9: the result is exact to the last place of single precision.
    """
    wide = x.astype(np.float64)
    return (wide * share.sum(1, np.float64, keepdims=True) - share.astype(np.float64).dot(wide)).astype(x.dtype)


def _by_pairs(F: Any, grad: Any, x: Any, result: Any, p: float) -> Any:
    """The same by the list of all pairs, as a formula: with a history, for what is not finite, and on a device."""
    first, second = _pairs(x)
    each = distance_grad(F, grad, within(F, x), result, p)
    return F.index_backward(each, x.shape, (first,)) - F.index_backward(each, x.shape, (second,))


in_both("pdist_grad", _gradient, lambda g, x, result, p: _by_pairs(graph, g, x, result, p))
op("pdist_raw(self, p)", "PdistBackward0", kinds="w", value=_distances, self="pdist_grad(g, self, result, p)")


@public("torch nn.functional")
def pdist(self: Tensor, p: float = 2) -> Tensor:
    """Distances in the p-norm between all pairs of rows of (N, M), of the first row those first."""
    if self.ndim != 2:
        raise shape_error(f"pdist only supports 2D tensors, got: {self.ndim}D")
    if self.dtype.kind != "f":
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    return OPS["pdist_raw"](self.contiguous(), float(p))
