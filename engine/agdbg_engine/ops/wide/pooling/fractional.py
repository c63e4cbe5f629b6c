"""Fractional max pooling: windows of one size at random distances, drawn for every plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....device import array_module
from ....random import generator
from ....several import at_home
from ....tensor import Tensor, wrap
from ... import graph
from ...explain import shape_error
from ..convolution.windows import Ints
from ..declare import public
from .arguments import Size, check_kind, each
from .fixed import Pair
from .max_pool import declare


def _starts(samples: Any, n: int, m: int, kernel: int) -> Any:
    """Where the ``m`` windows of every plane begin, of random numbers (planes,)."""
    i = array_module(samples).arange(m - 1).astype(samples.dtype)
    alpha = samples.dtype.type((n - kernel) / (m - 1)) if m > 1 else samples.dtype.type(0)
    drawn = np.trunc((i + samples[:, None]) * alpha) - np.trunc(samples[:, None] * alpha)
    last = array_module(samples).full((len(samples), 1), n - kernel, np.int64)
    return np.concatenate([drawn.astype(np.int64), last], 1)[:, :m]


def _value(self: Any, kernel_size: Ints, output_size: Ints, random_samples: Any) -> Any:
    k = len(kernel_size)
    size, lead = self.shape[-k:], self.shape[:-k]
    planes = self.reshape(-1, *size)
    xp = array_module(self)
    samples = random_samples.reshape(-1, k)
    if k == 2:  # the first number is for the last dimension, in three dimensions for the first
        samples = samples[:, ::-1]
    starts = [_starts(samples[:, d], size[d], output_size[d], kernel_size[d]) for d in range(k)]
    starts = [s.reshape(len(s), *(1,) * d, s.shape[1], *(1,) * (k - 1 - d)) for d, s in enumerate(starts)]
    which = xp.arange(len(planes)).reshape(-1, *(1,) * k)
    best: Any = None
    for offset in np.ndindex(*kernel_size):
        at = [s + o for s, o in zip(starts, offset, strict=True)]
        value = planes[(which, *at)]
        place: Any = 0
        for n, a in zip(size, at, strict=True):
            place = place * n + a
        if best is None:
            best, found = value.copy(), place.copy()
            continue
        better = (value > best) | (value != value)
        np.copyto(best, value, where=better)
        np.copyto(found, place, where=better)
    return best.reshape(*lead, *output_size), found.reshape(*lead, *output_size)


for _k in (2, 3):
    declare(
        f"fractional_max_pool{_k}d_raw", f"FractionalMaxPool{_k}D", _k, "kernel_size, output_size, random_samples", _value,
        "kernel_size, output_size",
    )  # fmt: skip


@at_home
def _pooled(k: int, x: Tensor, kernel_size: Size, output_size: Any, output_ratio: Any, samples: Any) -> Pair:
    op = f"fractional_max_pool{k}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{op} requires specifying either an output_size or an output_ratio")
    if x.ndim not in (k + 1, k + 2):
        if x.ndim < k + 1:
            raise shape_error(
                f"Dimension out of range (expected to be in range of [{-x.ndim}, {x.ndim - 1}], but got {-k - 1})",
                IndexError,
            )
        raise shape_error(f"{op}(): Expected {k + 1}D or {k + 2}D tensor, but got: {list(x.shape)}")
    if output_size is None:
        ratios = tuple(output_ratio) if isinstance(output_ratio, tuple | list) else (output_ratio,) * k
        output_size = tuple(int(n * r) for n, r in zip(x.shape[-k:], ratios, strict=True))
    kernel, size = each(op, "kernel_size", kernel_size, k), each(op, "output_size", output_size, k)
    for name, n, m, w in zip(["time", "height", "width"][-k:], x.shape[-k:], size, kernel, strict=True):
        if m + w - 1 > n:
            raise shape_error(f"{op}(): pool {name} {w} too large relative to input {name} {n}")
    check_kind(f"{op}_out_frame" if samples is not None or x.dtype.kind == "c" else "check_uniform_bounds", x, "f")
    if samples is None:
        lead = (1, *x.shape[:-k]) if x.ndim == k + 1 else x.shape[:-k]
        samples = wrap(generator(None, x._a).random((*lead, k)).astype(x.dtype))
    else:
        _check_samples(samples, x, k)
    batch = 1 if x.ndim == k + 1 else len(x)
    values, indices = getattr(graph, f"{op}_raw")(x, kernel, size, samples._a[:batch])
    return values, indices


def _check_samples(samples: Tensor, x: Tensor, k: int) -> None:
    """Refuse random numbers (batch, channels, k) of another kind, or for fewer or other planes."""
    if samples.dtype != x.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.ndim != 3:
        raise shape_error(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    if samples.shape[0] < (1 if x.ndim == k + 1 else len(x)):
        raise shape_error("Expect _random_samples.size(0) no less then input batch size.")
    if samples.shape[1] != x.shape[-k - 1]:
        raise shape_error("Expect _random_samples.size(1) equals to input channel size.")
    if samples.shape[2] != k:
        raise shape_error(f"Expect _random_samples.size(2) equals to {k}; got {samples.shape[2]}.")


@public("nn.functional")
def fractional_max_pool2d(
    input: Tensor, kernel_size: Size, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:  # fmt: skip
    """Maxima over windows at random distances, so many that the result has ``output_size`` or a part of the input's size."""
    values, indices = _pooled(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return (values, indices) if return_indices else values


@public("nn.functional")
def fractional_max_pool3d(
    input: Tensor, kernel_size: Size, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:  # fmt: skip
    """As :func:`fractional_max_pool2d`, of volumes."""
    values, indices = _pooled(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return (values, indices) if return_indices else values


@public("nn.functional")
def fractional_max_pool2d_with_indices(
    input: Tensor, kernel_size: Size, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> Pair:  # fmt: skip
    """:func:`fractional_max_pool2d` and the places of the maxima."""
    return _pooled(2, input, kernel_size, output_size, output_ratio, _random_samples)


@public("nn.functional")
def fractional_max_pool3d_with_indices(
    input: Tensor, kernel_size: Size, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> Pair:  # fmt: skip
    """:func:`fractional_max_pool3d` and the places of the maxima."""
    return _pooled(3, input, kernel_size, output_size, output_ratio, _random_samples)
