"""Discrete Fourier transforms: three ops (complex to complex, real to complex, complex to real) behind ``torch.fft``.

``normalization`` is PyTorch's number: 0 none, 1 by the square root of the number of points, 2 by that number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....device import array_module
from ....tensor import wrap
from ... import kernels
from ..declare import formula, in_both, linear

Dims = tuple[int, ...]

_FORWARD: Any = ("backward", "ortho", "forward")
_INVERSE: Any = ("forward", "ortho", "backward")


def _c2c(x: Any, dim: Dims, normalization: int, forward: bool) -> Any:
    if not dim:
        return x
    if forward:
        return np.fft.fftn(x, axes=dim, norm=_FORWARD[normalization])
    return np.fft.ifftn(x, axes=dim, norm=_INVERSE[normalization])


def _r2c(x: Any, dim: Dims, normalization: int, onesided: bool) -> Any:
    transform = np.fft.rfftn if onesided else np.fft.fftn
    return transform(x, axes=dim, norm=_FORWARD[normalization])


def _c2r(x: Any, dim: Dims, normalization: int, last_dim_size: int) -> Any:
    sizes = [*(x.shape[d] for d in dim[:-1]), last_dim_size]
    return np.fft.irfftn(x, s=sizes, axes=dim, norm=_INVERSE[normalization])


fft_c2c = linear("fft_c2c(self, dim, normalization, forward)", "FftC2CBackward0",
                 "fft_c2c(g, dim, normalization, not forward)", value=_c2c)  # fmt: skip
fft_r2c = linear("fft_r2c(self, dim, normalization, onesided)", "FftR2CBackward0",
                 "fft_r2c_grad(g, self_shape, dim, normalization, onesided)", value=_r2c)  # fmt: skip
fft_c2r = linear("fft_c2r(self, dim, normalization, last_dim_size)", "FftC2RBackward0",
                 "fft_c2r_grad(g, self_shape, dim, normalization)", value=_c2r)  # fmt: skip


@formula
def fft_r2c_grad(F: Any, g: Any, shape: Dims, dim: Dims, normalization: int, onesided: bool) -> Any:
    """Gradient of real to complex: the inverse without scaling, of zeros where a half spectrum was left out; its real part."""
    last = dim[-1]
    if onesided and g.shape[last] != shape[last]:
        full = tuple(shape[last] if d == last else s for d, s in enumerate(g.shape))
        g = F.slice_backward(g, full, last, 0, g.shape[last], 1)
    return F.fft_real(F.fft_c2c(g, dim, normalization, False))


@formula
def fft_c2r_grad(F: Any, g: Any, shape: Dims, dim: Dims, normalization: int) -> Any:
    """Gradient of complex to real: a half spectrum, doubled where an entry stood for its mirror image too."""
    half = F.fft_r2c(g, dim, normalization, True)
    return half * F.fft_twice(half, dim[-1], g.shape[dim[-1]] - half.shape[dim[-1]])


def _twice(x: Any, dim: int, count: int) -> Any:
    """Weights for the entries of ``x`` along ``dim``: 2 for ``count`` of them after the first."""
    weights = array_module(x).ones(x.shape[dim], x.real.dtype)
    weights[1 : 1 + count] = 2
    return weights.reshape([-1 if d == dim else 1 for d in range(x.ndim)])


in_both("fft_twice", _twice, lambda x, dim, count: wrap(kernels.fft_twice(x._a, dim, count)))  # type: ignore[attr-defined]  # declared here
in_both("fft_real", lambda x: x.real.copy(), lambda x: x.real)
