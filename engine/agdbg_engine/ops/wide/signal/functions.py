"""``torch.fft``: the transforms as users write them, on the ops of :mod:`.rows`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....creation import leaf
from ....dtype import get_default_dtype, scalar_type
from ....pinned_memory import pinnable
from ....tensor import Tensor
from ... import _generated as g
from ...explain import shape_error
from ...shape import one_dim
from ..declare import public
from ..resampling.pad_modes import pad
from ..shapes.turning import roll
from .rows import fft_c2c, fft_c2r, fft_r2c

Dims = int | Sequence[int] | None
_COMPLEX = {np.dtype(np.float32): np.dtype(np.complex64), np.dtype(np.float64): np.dtype(np.complex128)}


# ----- arguments -----


def _scale(norm: str | None, forward: bool) -> int:
    """The number of a normalisation in a direction."""
    if norm in (None, "backward"):
        return 0 if forward else 2
    if norm == "forward":
        return 2 if forward else 0
    if norm == "ortho":
        return 1
    raise RuntimeError(f'Invalid normalization mode: "{norm}"')


def _floating(x: Tensor, to_complex: bool) -> Tensor:
    """``x`` in a dtype that transforms are there for."""
    if x.dtype.kind in "biu":
        x = x.to(get_default_dtype())
    if x.dtype == np.float16:
        raise RuntimeError(f"Unsupported dtype {scalar_type(x.dtype)}")
    return x.to(_COMPLEX[x.dtype]) if to_complex and x.dtype.kind == "f" else x


def _real(op: str, x: Tensor) -> Tensor:
    if x.dtype.kind == "c":
        if op == "ihfftn":
            raise RuntimeError(f"Only supports floating-point dtypes, but found: {scalar_type(x.dtype)}")
        real = "real-valued" if op == "rfftn" else "real"
        raise RuntimeError(f"{op} expects a {real} input tensor, but got {scalar_type(x.dtype)}")
    return _floating(x, False)


def _one(op: str, x: Tensor, n: int | None, dim: int) -> tuple[int, int]:
    """``dim`` and the number of points along it, both checked."""
    dim = _dimension(x, dim)
    n = x.shape[dim] if n is None else n
    if n < 1:
        raise shape_error(f"Invalid number of data points ({n}) specified")
    return dim, n


def _dimension(x: Tensor, dim: int) -> int:
    """``dim`` counted from 0; a tensor without dimensions has none to transform, where others take -1 and 0 for it."""
    if x.ndim == 0:
        raise shape_error(f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
    return one_dim(x, dim)


def _resized(x: Tensor, dims: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """``x`` cut or filled with zeros to ``sizes`` along ``dims``."""
    for d, n in zip(dims, sizes, strict=True):
        if n < x.shape[d]:
            x = g.slice(x, d, 0, n, 1)
    pads = [0] * (2 * x.ndim)
    for d, n in zip(dims, sizes, strict=True):
        pads[2 * (x.ndim - 1 - d) + 1] = n - x.shape[d]
    return pad(x, tuple(pads)) if any(pads) else x


def _several(x: Tensor, s: Any, dim: Dims) -> tuple[tuple[int, ...], list[int]]:
    """Dimensions and the number of points along each, in order."""
    if isinstance(s, int):
        s = (s,)
    if dim is None:
        if s is not None and len(s) > x.ndim:
            raise shape_error(f"Got shape with {len(s)} values but input tensor only has {x.ndim} dimensions.")
        dims = tuple(range(x.ndim - (x.ndim if s is None else len(s)), x.ndim))
    else:
        dims = tuple(_dimension(x, d) for d in ([dim] if isinstance(dim, int) else dim))
        if len({*dims}) < len(dims):
            raise shape_error("FFT dims must be unique")
        if s is not None and len(s) != len(dims):
            raise shape_error("When given, dim and shape arguments must have the same length")
    sizes = [x.shape[d] if s is None or s[i] == -1 else s[i] for i, d in enumerate(dims)]
    for n in sizes:
        if n < 1:
            raise shape_error(f"Invalid number of data points ({n}) specified")
    return dims, sizes


# ----- one dimension -----


def _c2c(op: str, x: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    x = _floating(x, False)
    dim, n = _one(op, x, n, dim)
    x = _resized(x, (dim,), (n,))
    if x.dtype.kind == "c":
        return fft_c2c(x, (dim,), _scale(norm, forward), forward)
    spectrum = fft_r2c(x, (dim,), _scale(norm, forward), False)
    return spectrum if forward else spectrum.conj()


def _r2c(op: str, x: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    x = _real(op, x)
    dim, n = _one(op, x, n, dim)
    spectrum = fft_r2c(_resized(x, (dim,), (n,)), (dim,), _scale(norm, forward), True)
    return spectrum if forward else spectrum.conj()


def _c2r(op: str, x: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    x = _floating(x, True)
    dim, n = _one(op, x, 2 * (x.shape[_dimension(x, dim)] - 1) if n is None else n, dim)
    x = _resized(x, (dim,), (n // 2 + 1,))
    return fft_c2r(x.conj() if forward else x, (dim,), _scale(norm, forward), n)


@public("fft", out=True)
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The discrete Fourier transform along ``dim``, of ``n`` points."""
    return _c2c("fft", input, n, dim, norm, True)


@public("fft", out=True)
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of :func:`fft`."""
    return _c2c("ifft", input, n, dim, norm, False)


@public("fft", out=True)
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """:func:`fft` of real numbers without the half that is the mirror image of the other."""
    return _r2c("rfft", input, n, dim, norm, True)


@public("fft", out=True)
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of :func:`rfft`, with ``n`` real points."""
    return _c2r("irfft", input, n, dim, norm, False)


@public("fft", out=True)
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The real transform of a signal of which half is given, the other half being its mirror image."""
    return _c2r("hfft", input, n, dim, norm, True)


@public("fft", out=True)
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of :func:`hfft`."""
    return _r2c("ihfft", input, n, dim, norm, False)


# ----- several dimensions -----


def _c2c_n(x: Tensor, s: Any, dim: Dims, norm: str | None, forward: bool) -> Tensor:
    x = _floating(x, True)
    dims, sizes = _several(x, s, dim)
    x, scale = _resized(x, dims, sizes), _scale(norm, forward)
    return fft_c2c(x, dims, scale, forward) if dims else x.clone()


def _r2c_n(op: str, x: Tensor, s: Any, dim: Dims, norm: str | None, forward: bool) -> Tensor:
    if forward:
        x = _real(op, x)
    dims, sizes = _several(x, s, dim)
    if not dims:
        raise shape_error(f"{op} must transform at least one axis")
    scale = _scale(norm, forward)
    x = _resized(x if forward else _real(op, x), dims, sizes)
    if forward:
        return fft_r2c(x, dims, scale, True)
    half = fft_r2c(x, dims[-1:], scale, True).conj()
    return fft_c2c(half, dims[:-1], scale, False) if dims[:-1] else half


def _c2r_n(op: str, x: Tensor, s: Any, dim: Dims, norm: str | None, forward: bool) -> Tensor:
    x = _floating(x, True)
    given = None if s is None else [s] if isinstance(s, int) else list(s)
    dims, sizes = _several(x, given, dim)
    if not dims:
        raise shape_error(f"{op} must transform at least one axis")
    last = 2 * (x.shape[dims[-1]] - 1) if given is None or given[-1] == -1 else given[-1]
    if last < 1:
        raise shape_error(f"Invalid number of data points ({last}) specified")
    x = _resized(x, dims, [*sizes[:-1], last // 2 + 1])
    if not forward:
        return fft_c2r(x, dims, _scale(norm, False), last)
    if dims[:-1]:
        x = fft_c2c(x, dims[:-1], _scale(norm, True), True)
    return fft_c2r(x.conj(), dims[-1:], _scale(norm, True), last)


@public("fft", out=True)
def fftn(input: Tensor, s: Any = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """:func:`fft` along several dimensions, with ``s`` points."""
    return _c2c_n(input, s, dim, norm, True)


@public("fft", out=True)
def ifftn(input: Tensor, s: Any = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """The inverse of :func:`fftn`."""
    return _c2c_n(input, s, dim, norm, False)


@public("fft", out=True)
def rfftn(input: Tensor, s: Any = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """:func:`rfft` along the last of several dimensions, :func:`fft` along the others."""
    return _r2c_n("rfftn", input, s, dim, norm, True)


@public("fft", out=True)
def irfftn(input: Tensor, s: Any = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """The inverse of :func:`rfftn`."""
    return _c2r_n("irfftn", input, s, dim, norm, False)


@public("fft", out=True)
def hfftn(input: Tensor, s: Any = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """:func:`hfft` along the last of several dimensions, :func:`fft` along the others."""
    return _c2r_n("hfftn", input, s, dim, norm, True)


@public("fft", out=True)
def ihfftn(input: Tensor, s: Any = None, dim: Dims = None, norm: str | None = None) -> Tensor:
    """The inverse of :func:`hfftn`."""
    return _r2c_n("ihfftn", input, s, dim, norm, False)


@public("fft", out=True)
def fft2(input: Tensor, s: Any = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """:func:`fftn` along the last two dimensions."""
    return _c2c_n(input, s, dim, norm, True)


@public("fft", out=True)
def ifft2(input: Tensor, s: Any = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of :func:`fft2`."""
    return _c2c_n(input, s, dim, norm, False)


@public("fft", out=True)
def rfft2(input: Tensor, s: Any = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """:func:`rfftn` along the last two dimensions."""
    return _r2c_n("rfftn", input, s, dim, norm, True)


@public("fft", out=True)
def irfft2(input: Tensor, s: Any = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of :func:`rfft2`."""
    return _c2r_n("irfftn", input, s, dim, norm, False)


@public("fft", out=True)
def hfft2(input: Tensor, s: Any = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """:func:`hfftn` along the last two dimensions."""
    return _c2r_n("hfftn", input, s, dim, norm, True)


@public("fft", out=True)
def ihfft2(input: Tensor, s: Any = None, dim: Dims = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of :func:`hfft2`."""
    return _r2c_n("ihfftn", input, s, dim, norm, False)


# ----- order of frequencies -----


@public("fft")
def fftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """The frequency 0 in the middle."""
    dims = _shifted(input, dim)
    return roll(input, tuple(input.shape[d] // 2 for d in dims), dims)


@public("fft")
def ifftshift(input: Tensor, dim: Dims = None) -> Tensor:
    """The inverse of :func:`fftshift`."""
    dims = _shifted(input, dim)
    return roll(input, tuple((input.shape[d] + 1) // 2 for d in dims), dims)


def _shifted(x: Tensor, dim: Dims) -> tuple[int, ...]:
    if dim is None:
        return tuple(range(x.ndim))
    return tuple(one_dim(x, d) for d in ((dim,) if isinstance(dim, int) else dim))  # one may be named twice


@public("fft", out=True)
@pinnable
def fftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:  # fmt: skip
    """The frequencies of :func:`fft` of ``n`` points that lie ``d`` apart."""
    return leaf(_frequencies(np.fft.fftfreq, n, d, dtype), device, requires_grad)


@public("fft", out=True)
@pinnable
def rfftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:  # fmt: skip
    """The frequencies of :func:`rfft` of ``n`` points that lie ``d`` apart."""
    return leaf(_frequencies(np.fft.rfftfreq, n, d, dtype), device, requires_grad)


def _frequencies(function: Any, n: int, d: float, dtype: Any) -> Any:
    wanted = np.dtype(dtype or get_default_dtype())
    if wanted.kind not in "fc":
        raise RuntimeError(f"{function.__name__} requires a floating point or complex dtype")
    if wanted.kind == "c":
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{scalar_type(wanted)}'")
    if n > 0 and d:
        return function(n, d).astype(wanted)
    count = int(n / 2) + 1 if function is np.fft.rfftfreq else n  # cut to 0, so that -1 makes one
    if count < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [{count}]")
    places = np.arange(count) if function is np.fft.rfftfreq else np.roll(np.arange(-(n // 2), n - n // 2), -(n // 2))
    with np.errstate(all="ignore"):  # 1 / 0 is infinity, and that of 0 NaN
        return (places * np.divide(1.0, n * d)).astype(wanted)
