"""More calls that ``benchmarks/ops.py`` times: convolutions, pooling, normalisation, recurrent layers, losses, indexing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from op_workloads import BATCHES, IMAGES, SQUARE, VECTORS, Case, Shape
from op_workloads_batches import whole

Sizes = tuple[tuple[Shape, ...], ...]

VOLUMES: Sizes = (((1, 2, 4, 4, 4),), ((2, 8, 8, 16, 16),), ((2, 16, 16, 32, 32),))
SIGNALS: Sizes = (((1, 2, 16),), ((8, 8, 64),), ((16, 32, 256),))
SEQUENCES: Sizes = (((5, 2, 8),), ((50, 8, 32),), ((100, 32, 64),))
LINES: Sizes = (((8,),), ((256,),), ((1024,),))


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _convolutions()
    yield from _pooling()
    yield from _recurrent()
    yield from _losses()
    yield from _indexing()
    yield from _others()


def _with(sizes: Sizes, kernel: Shape) -> Sizes:
    """Shapes of inputs and of as many kernels as they have channels."""
    return tuple((x, (x[1], x[1], *kernel)) for (x,) in sizes)


def _convolutions() -> Iterator[Case]:
    yield Case("F.conv3d", lambda lib, F, x, w: F.conv3d(x, w, padding=1), _with(VOLUMES, (3, 3, 3)))
    yield Case("F.conv2d(stride)", lambda lib, F, x, w: F.conv2d(x, w, stride=2, padding=1), _with(IMAGES, (3, 3)))
    yield Case("F.conv2d(dilated)", lambda lib, F, x, w: F.conv2d(x, w, padding=2, dilation=2), _with(IMAGES, (3, 3)))
    yield Case("F.conv2d(1 x 1)", lambda lib, F, x, w: F.conv2d(x, w), _with(IMAGES, (1, 1)))
    for name, sizes, kernel in (
        ("conv_transpose1d", SIGNALS, (3,)), ("conv_transpose2d", IMAGES, (3, 3)), ("conv_transpose3d", VOLUMES, (3, 3, 3)),
    ):  # fmt: skip
        yield Case(f"F.{name}", lambda lib, F, x, w, n=name: getattr(F, n)(x, w, stride=2), _with(sizes, kernel))
    yield Case("F.fold", lambda lib, F, x: F.fold(F.unfold(x, 3, padding=1), x.shape[2:], 3, padding=1), IMAGES)


def _pooling() -> Iterator[Case]:
    for name in ("max_pool3d", "avg_pool3d"):
        yield Case(f"F.{name}", lambda lib, F, x, n=name: getattr(F, n)(x, 2), VOLUMES)
    yield Case("F.max_pool2d(3, stride 2)", lambda lib, F, x: F.max_pool2d(x, 3, 2, 1), IMAGES)
    yield Case("F.lp_pool2d", lambda lib, F, x: F.lp_pool2d(x, 2, 2), IMAGES, True)
    yield Case("F.adaptive_max_pool2d", lambda lib, F, x: F.adaptive_max_pool2d(x, 3), IMAGES)
    yield Case("F.pixel_shuffle", lambda lib, F, x: F.pixel_shuffle(x.reshape(x.shape[0], -1, 4, 4), 2), IMAGES)
    yield Case("F.instance_norm", lambda lib, F, x: F.instance_norm(x), IMAGES)
    yield Case("F.group_norm", lambda lib, F, x: F.group_norm(x, 2), IMAGES)
    yield Case("F.batch_norm(images)", lambda lib, F, x: F.batch_norm(x, None, None, training=True), IMAGES)
    yield Case("F.rms_norm", lambda lib, F, x: F.rms_norm(x, x.shape[-1:]), BATCHES)


@cache
def _module(lib: Any, kind: str, *args: Any, **options: Any) -> Any:
    lib.manual_seed(0)
    made = getattr(lib.nn, kind)(*args, **options)
    return made.double() if options.get("dtype") else made


def _recurrent() -> Iterator[Case]:
    for kind in ("RNN", "LSTM", "GRU"):
        yield Case(f"nn.{kind}", lambda lib, F, x, k=kind: _module(lib, k, x.shape[-1], x.shape[-1])(x)[0], SEQUENCES)
    yield Case(
        "nn.LSTM(float64)",
        lambda lib, F, x: _module(lib, "LSTM", x.shape[-1], x.shape[-1], dtype=lib.float64)(x.double())[0],
        SEQUENCES,
    )
    for kind in ("RNNCell", "GRUCell", "LSTMCell"):
        yield Case(
            f"nn.{kind}",
            lambda lib, F, x, k=kind: _state(_module(lib, k, x.shape[-1], 32)(x)),
            (((2, 8),), ((32, 32),), ((128, 256),)),
        )
    heads = (((2, 4, 8),), ((8, 32, 32),), ((8, 128, 64),))
    yield Case(
        "nn.MultiheadAttention",
        lambda lib, F, x: _module(lib, "MultiheadAttention", x.shape[-1], 4, batch_first=True)(
            x, x, x, need_weights=False
        )[0],
        heads,
    )


def _state(out: Any) -> Any:
    return out[0] if isinstance(out, tuple) else out


def _losses() -> Iterator[Case]:
    pairs = tuple((s[0], s[0]) for s in BATCHES)
    for name in ("soft_margin_loss", "hinge_embedding_loss", "multilabel_soft_margin_loss", "gaussian_nll_loss"):

        def loss(lib: Any, F: Any, x: Any, y: Any, name: str = name) -> Any:
            target = (
                y.detach().sign() if name == "soft_margin_loss" or "hinge" in name else (y.detach() > 0.5).to(x.dtype)
            )
            return getattr(F, name)(x, target, *((x * x + 1,) if name == "gaussian_nll_loss" else ()))

        yield Case(f"F.{name}", loss, pairs, True)
    yield Case(
        "F.cosine_embedding_loss",
        lambda lib, F, x, y: F.cosine_embedding_loss(x, y, lib.ones(x.shape[0])),
        pairs,
    )
    yield Case(
        "F.margin_ranking_loss", lambda lib, F, x, y: F.margin_ranking_loss(x, y, lib.ones_like(x).detach()), pairs
    )
    yield Case("F.prelu", lambda lib, F, x: F.prelu(x, lib.tensor([0.25])), IMAGES)


def _indexing() -> Iterator[Case]:
    def rows(lib: Any, x: Any) -> Any:
        return whole(lib, x.shape[0], x.shape[0])

    yield Case("index_add", lambda lib, F, x: lib.index_add(x, 0, rows(lib, x), x), BATCHES)
    yield Case("index_copy", lambda lib, F, x: lib.index_copy(x, 0, lib.arange(x.shape[0]), x * 2), BATCHES)
    yield Case("index_fill", lambda lib, F, x: lib.index_fill(x, 0, rows(lib, x), 1.0), BATCHES)
    yield Case("index_put", lambda lib, F, x: lib.index_put(x, (lib.arange(x.shape[0]),), x * 2), BATCHES)
    yield Case("masked_fill", lambda lib, F, x: lib.masked_fill(x, x > 0, 0.0), BATCHES)
    yield Case("masked_select", lambda lib, F, x: lib.masked_select(x, x > 0), BATCHES)
    yield Case("x[mask]", lambda lib, F, x: x[x > 0], BATCHES)
    yield Case("take", lambda lib, F, x: lib.take(x, whole(lib, x.numel(), *x.shape)), BATCHES)
    yield Case("take_along_dim", lambda lib, F, x: lib.take_along_dim(x, lib.argsort(x.detach(), 1), 1), BATCHES)
    yield Case("scatter", lambda lib, F, x: lib.scatter(x, 1, lib.argsort(x.detach(), 1), x * 2), BATCHES)
    for how in ("mean", "amax", "prod"):
        yield Case(
            f"scatter_reduce({how})",
            lambda lib, F, x, h=how: lib.scatter_reduce(x, 1, whole(lib, x.shape[1], *x.shape), x * 2, h),
            BATCHES,
            True,
        )
    for how in ("sum", "mean", "max", "prod"):
        yield Case(
            f"segment_reduce({how})",
            lambda lib, F, x, h=how: lib.segment_reduce(x.reshape(-1), h, lengths=lib.full((x.numel() // 8,), 8)),
            BATCHES,
            True,
        )
    yield Case("chunk", lambda lib, F, x: lib.cat(lib.chunk(x, 2, 1)[::-1], 1), BATCHES)
    yield Case("as_strided", lambda lib, F, x: x.as_strided((x.shape[0], 2), (x.shape[1], 1)) * 2, BATCHES)


def _others() -> Iterator[Case]:
    for p in (1.0, float("inf")):
        yield Case(f"pdist({p:g})", lambda lib, F, x, p=p: F.pdist(x, p), (((5, 4),), ((50, 8),), ((400, 16),)))
        yield Case(f"cdist({p:g})", lambda lib, F, x, p=p: lib.cdist(x, x, p), (((5, 4),), ((50, 8),), ((400, 16),)))
    yield Case("quantile", lambda lib, F, x: lib.quantile(x, 0.3, 1), BATCHES)
    yield Case("kron", lambda lib, F, x: lib.kron(x, x), (((2, 2),), ((8, 8),), ((24, 24),)))
    yield Case("outer", lambda lib, F, x: lib.outer(x, x), LINES)
    yield Case("diag_embed", lambda lib, F, x: lib.diag_embed(x), LINES)
    yield Case("histc", lambda lib, F, x: lib.histc(x.detach(), 50), VECTORS)
    yield Case("linalg.ldl_factor", lambda lib, F, x: lib.linalg.ldl_factor((x + x.mT).detach())[0], SQUARE)
    stacks = (((4, 4, 4),), ((500, 4, 4),), ((100, 24, 24),))
    yield Case("linalg.ldl_factor(batch)", lambda lib, F, x: lib.linalg.ldl_factor((x + x.mT).detach())[0], stacks)
    yield Case("linalg.multi_dot", lambda lib, F, x: lib.linalg.multi_dot([x, x, x]), SQUARE)
    yield Case(
        "stft",
        lambda lib, F, x: lib.view_as_real(lib.stft(x, 8, window=lib.ones(8), return_complex=True)),
        (((2, 32),), ((8, 512),), ((16, 8192),)),
    )
    yield Case("x.double()", lambda lib, F, x: x.double(), VECTORS)
    yield Case("clamp", lambda lib, F, x: lib.clamp(x, -0.5, 0.5), VECTORS)
    yield Case("pow(tensor)", lambda lib, F, x, y: x**y, tuple((s[0], s[0]) for s in VECTORS), True)
    yield Case("expand * x", lambda lib, F, x: x[:1].expand_as(x) * x, BATCHES)
    yield Case("permute, contiguous", lambda lib, F, x: x.permute(1, 0).contiguous(), BATCHES)
    yield Case("addmm", lambda lib, F, x, y: lib.addmm(x, x, y), tuple((s[0], s[0]) for s in SQUARE))
    yield Case(
        "whole numbers: cumsum",
        lambda lib, F, x: lib.cumsum(lib.from_numpy(np.ones(tuple(x.shape), np.int64)), 1),
        BATCHES,
    )
