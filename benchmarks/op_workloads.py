"""The calls that ``benchmarks/ops.py`` times: for every op a function of the library and of tensors of three sizes.

Shapes come in three sizes, small (what a call costs at all), medium and large (what the arithmetic costs).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

Shape = tuple[int, ...]
SIZES = ("small", "medium", "large")


class Case(NamedTuple):
    """``call(lib, F, *tensors)`` for tensors of ``shapes`` (by size: one tuple of shapes)."""

    name: str
    call: Callable[..., Any]
    shapes: tuple[tuple[Shape, ...], ...]
    positive: bool = False


VECTORS = (((8,),), ((64, 64),), ((512, 512),))
PAIRS = tuple((s[0], s[0]) for s in VECTORS)
BATCHES = (((2, 8),), ((32, 128),), ((128, 2048),))
SQUARE = (((4, 4),), ((32, 32),), ((192, 192),))
IMAGES = (((1, 2, 8, 8),), ((4, 8, 16, 16),), ((8, 16, 32, 32),))

UNARY = [
    "exp",
    "log",
    "sqrt",
    "rsqrt",
    "tanh",
    "sigmoid",
    "relu",
    "sin",
    "cos",
    "tan",
    "sinh",
    "asin",
    "atan",
    "erf",
    "erfc",
    "expm1",
    "log1p",
    "log2",
    "exp2",
    "square",
    "abs",
    "reciprocal",
    "lgamma",
    "digamma",
    "erfinv",
    "sinc",
    "floor",
    "frac",
    "neg",
]
ACTIVATIONS = [
    "gelu",
    "silu",
    "mish",
    "elu",
    "selu",
    "softplus",
    "hardswish",
    "hardsigmoid",
    "hardtanh",
    "leaky_relu",
    "logsigmoid",
    "softsign",
    "tanhshrink",
]
BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "atan2",
    "hypot",
    "maximum",
    "minimum",
    "fmax",
    "logaddexp",
    "fmod",
    "remainder",
    "copysign",
]


def cases() -> Iterator[Case]:
    """All of them."""
    for name in UNARY:
        yield Case(name, lambda lib, F, x, n=name: getattr(lib, n)(x), VECTORS, positive=True)
    for name in ACTIVATIONS:
        yield Case(f"F.{name}", lambda lib, F, x, n=name: getattr(F, n)(x), VECTORS)
    for name in BINARY:
        yield Case(name, lambda lib, F, x, y, n=name: getattr(lib, n)(x, y), PAIRS, positive=True)
    yield Case("div(floor)", lambda lib, F, x, y: lib.div(x, y, rounding_mode="floor"), PAIRS, positive=True)
    yield from _shapes()
    yield from _reductions()
    yield from _matrices()
    yield from _layers()
    from op_workloads_batches import cases as of_batches  # these files need this one
    from op_workloads_layers import cases as of_layers

    yield from of_batches()
    yield from of_layers()


def _shapes() -> Iterator[Case]:
    index = lambda lib, x: lib.from_numpy(np.arange(x.shape[0] - 1, -1, -1))  # noqa: E731 - one expression
    yield Case("cat", lambda lib, F, x, y: lib.cat([x, y]), PAIRS)
    yield Case("stack", lambda lib, F, x, y: lib.stack([x, y]), PAIRS)
    yield Case("flip", lambda lib, F, x: lib.flip(x, (0,)), BATCHES)
    yield Case("roll", lambda lib, F, x: lib.roll(x, 1, 0), BATCHES)
    yield Case("tril", lambda lib, F, x: lib.tril(x), SQUARE)
    yield Case("repeat", lambda lib, F, x: x.repeat(2, 1), BATCHES)
    yield Case("index_select", lambda lib, F, x: lib.index_select(x, 0, index(lib, x)), BATCHES)
    yield Case("x[index]", lambda lib, F, x: x[index(lib, x)], BATCHES)
    yield Case("where", lambda lib, F, x, y: lib.where(x > 0.5, x, y), PAIRS)
    yield Case("F.pad", lambda lib, F, x: F.pad(x, (1, 1)), BATCHES)


def _reductions() -> Iterator[Case]:
    for name in [
        "sum",
        "mean",
        "prod",
        "var",
        "std",
        "logsumexp",
        "cumsum",
        "cumprod",
        "softmax",
        "log_softmax",
        "amax",
    ]:
        yield Case(name, lambda lib, F, x, n=name: getattr(lib, n)(x, 1), BATCHES, positive=True)
    yield Case("max(dim)", lambda lib, F, x: lib.max(x, 1)[0], BATCHES)
    yield Case("sort", lambda lib, F, x: lib.sort(x, 1)[0], BATCHES)
    yield Case("topk", lambda lib, F, x: lib.topk(x, 2, 1)[0], BATCHES)
    yield Case("median", lambda lib, F, x: lib.median(x, 1)[0], BATCHES)
    yield Case("norm", lambda lib, F, x: lib.linalg.vector_norm(x), BATCHES)


def _matrices() -> Iterator[Case]:
    spd = lambda lib, x: x @ x.mT + lib.eye(x.shape[-1]) * x.shape[-1]  # noqa: E731 - one expression
    two = tuple((s[0], s[0]) for s in SQUARE)
    yield Case("mm", lambda lib, F, x, y: x @ y, two)
    yield Case("einsum", lambda lib, F, x, y: lib.einsum("ij,kj->ik", x, y), two)
    yield Case("linalg.inv", lambda lib, F, x: lib.linalg.inv(spd(lib, x)), SQUARE)
    yield Case("linalg.solve", lambda lib, F, x, y: lib.linalg.solve(spd(lib, x), y), two)
    yield Case("linalg.cholesky", lambda lib, F, x: lib.linalg.cholesky(spd(lib, x)), SQUARE)
    yield Case("linalg.qr", lambda lib, F, x: lib.linalg.qr(x)[1], SQUARE)
    yield Case("linalg.svdvals", lambda lib, F, x: lib.linalg.svdvals(x), SQUARE)
    yield Case("linalg.eigvalsh", lambda lib, F, x: lib.linalg.eigvalsh(spd(lib, x)), SQUARE)
    yield Case("fft.rfft", lambda lib, F, x: lib.fft.rfft(x).abs(), BATCHES)


def _layers() -> Iterator[Case]:
    conv = tuple((s[0], (8, s[0][1], 3, 3)) for s in IMAGES)
    normal = tuple((s[0], (s[0][1],), (s[0][1],)) for s in BATCHES)
    heads = (((1, 2, 4, 8),) * 3, ((2, 4, 32, 16),) * 3, ((4, 8, 128, 32),) * 3)
    yield Case("F.linear", lambda lib, F, x, w: F.linear(x, w), tuple((s[0], (16, s[0][1])) for s in BATCHES))
    yield Case("F.conv2d", lambda lib, F, x, w: F.conv2d(x, w, padding=1), conv)
    deep = (((1, 8, 4, 4), (8, 8, 3, 3)), ((4, 32, 8, 8), (32, 32, 3, 3)), ((8, 128, 8, 8), (128, 128, 3, 3)))
    each = tuple((s[0], (s[0][1], 1, 3, 3)) for s in IMAGES)
    yield Case("F.conv2d(deep)", lambda lib, F, x, w: F.conv2d(x, w, padding=1), deep)
    yield Case("F.conv2d(depthwise)", lambda lib, F, x, w: F.conv2d(x, w, padding=1, groups=w.shape[0]), each)
    yield Case(
        "F.conv1d",
        lambda lib, F, x, w: F.conv1d(x, w),
        (((1, 2, 16), (4, 2, 3)), ((8, 8, 64), (8, 8, 3)), ((16, 32, 256), (32, 32, 3))),
    )
    yield Case("F.max_pool2d", lambda lib, F, x: F.max_pool2d(x, 2), IMAGES)
    yield Case("F.avg_pool2d", lambda lib, F, x: F.avg_pool2d(x, 2), IMAGES)
    yield Case("F.adaptive_avg_pool2d", lambda lib, F, x: F.adaptive_avg_pool2d(x, 1), IMAGES)
    yield Case("F.interpolate", lambda lib, F, x: F.interpolate(x, scale_factor=2, mode="bilinear"), IMAGES)
    grids = tuple((s[0], (s[0][0], *s[0][2:], 2)) for s in IMAGES)
    yield Case("F.grid_sample", lambda lib, F, x, at: F.grid_sample(x, at, align_corners=False), grids)
    yield Case("F.layer_norm", lambda lib, F, x, w, b: F.layer_norm(x, w.shape, w, b), normal)
    yield Case("F.batch_norm", lambda lib, F, x, w, b: F.batch_norm(x, None, None, w, b, True), normal)
    yield Case("F.attention", lambda lib, F, q, k, v: F.scaled_dot_product_attention(q, k, v), heads)
    yield Case("F.mse_loss", lambda lib, F, x, y: F.mse_loss(x, y), PAIRS)
    yield Case("F.smooth_l1_loss", lambda lib, F, x, y: F.smooth_l1_loss(x, y), PAIRS)
    yield Case("F.bce_with_logits", lambda lib, F, x, y: F.binary_cross_entropy_with_logits(x, y.detach()), PAIRS)
    yield Case(
        "F.cross_entropy", lambda lib, F, x: F.cross_entropy(x, lib.from_numpy(np.arange(x.shape[0]) % 2)), BATCHES
    )
    yield Case("F.embedding", lambda lib, F, w: F.embedding(lib.from_numpy(np.arange(w.shape[0]) % 2), w), BATCHES)
