"""More calls that ``benchmarks/ops.py`` times: batches of matrices, running values, losses, bags, sorting, spectra."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from op_workloads import BATCHES, IMAGES, SQUARE, Case, Shape

Sizes = tuple[tuple[Shape, ...], ...]

STACKS: Sizes = (((4, 4, 4),), ((500, 4, 4),), ((100, 24, 24),))
TALL: Sizes = (((4, 6, 4),), ((500, 6, 4),), ((100, 32, 24),))
SEQUENCES: Sizes = (((6, 2, 5),), ((50, 32, 20),), ((100, 32, 60),))


def with_rhs(sizes: Sizes) -> Sizes:
    """Shapes of matrices and of two right-hand sides of each."""
    return tuple((m, (*m[:-1], 2)) for (m,) in sizes)


def whole(lib: Any, high: int, *shape: int) -> Any:
    """Whole numbers up to ``high``, the same ones for every library."""
    return lib.from_numpy(np.random.default_rng(1).integers(0, high, shape))


def spd(lib: Any, x: Any) -> Any:
    """Positive definite matrices made of any."""
    return x @ x.mT + lib.eye(x.shape[-1])


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _linalg()
    yield from _along_rows()
    yield from _losses()
    yield from _bags()
    yield from _signals()


def _linalg() -> Iterator[Case]:
    both = with_rhs(STACKS)

    def factored_and_solved(lib: Any, F: Any, x: Any, y: Any) -> Any:
        return lib.linalg.lu_solve(*lib.linalg.lu_factor(spd(lib, x)), y)

    of_one: dict[str, Callable[[Any, Any], Any]] = {
        "lu_factor": lambda lib, x: lib.linalg.lu_factor(x)[0],
        "lu": lambda lib, x: lib.linalg.lu(x)[2],
        "inv": lambda lib, x: lib.linalg.inv(spd(lib, x)),
        "det": lambda lib, x: lib.linalg.det(x),
        "slogdet": lambda lib, x: lib.linalg.slogdet(x)[1],
        "cholesky": lambda lib, x: lib.linalg.cholesky(spd(lib, x)),
        "qr": lambda lib, x: lib.linalg.qr(x)[1],
        "svdvals": lambda lib, x: lib.linalg.svdvals(x),
        "svd": lambda lib, x: lib.linalg.svd(x, full_matrices=False)[1],
        "eigh": lambda lib, x: lib.linalg.eigh(spd(lib, x))[0],
        "eigvals": lambda lib, x: lib.linalg.eigvals(x).abs(),
        "pinv": lambda lib, x: lib.linalg.pinv(x),
        "matrix_exp": lambda lib, x: lib.matrix_exp(x / x.shape[-1]),
        "matrix_power": lambda lib, x: lib.linalg.matrix_power(x, 3),
    }
    for name, of in of_one.items():
        yield Case(f"linalg.{name}(batch)", lambda lib, F, x, f=of: f(lib, x), STACKS)
    yield Case("linalg.lu_solve(batch)", factored_and_solved, both)
    yield Case("linalg.solve(batch)", lambda lib, F, x, y: lib.linalg.solve(spd(lib, x), y), both)
    yield Case("linalg.lstsq(batch)", lambda lib, F, x, y: lib.linalg.lstsq(x, y)[0], with_rhs(TALL))
    yield Case(
        "linalg.solve_triangular(batch)", lambda lib, F, x, y: lib.linalg.solve_triangular(x, y, upper=True), both, True
    )
    yield Case("bmm", lambda lib, F, x: lib.bmm(x, x), STACKS)


def _along_rows() -> Iterator[Case]:
    for name in ("cummax", "cummin"):
        yield Case(name, lambda lib, F, x, n=name: getattr(lib, n)(x, 1)[0], BATCHES)
    yield Case("logcumsumexp", lambda lib, F, x: lib.logcumsumexp(x, 1), BATCHES)
    yield Case("argsort", lambda lib, F, x: lib.argsort(x, 1), BATCHES)
    yield Case("topk(8)", lambda lib, F, x: lib.topk(x, 8, 1)[0], BATCHES)
    yield Case("kthvalue", lambda lib, F, x: lib.kthvalue(x, 3, 1)[0], BATCHES)
    yield Case("mode", lambda lib, F, x: lib.mode(x, 1)[0], BATCHES)
    yield Case("arange", lambda lib, F, x: lib.arange(x.shape[0] * x.shape[1]), BATCHES)
    yield Case("tensordot", lambda lib, F, x: lib.tensordot(x, x, ([0], [0])), BATCHES)
    yield Case("unique", lambda lib, F, x: lib.unique(whole(lib, 100, *x.shape)), BATCHES)
    yield Case("bincount", lambda lib, F, x: lib.bincount(whole(lib, 100, x.shape[0] * x.shape[1])), BATCHES)
    yield Case("searchsorted", lambda lib, F, x: lib.searchsorted(lib.linspace(-2, 2, 64), x.detach()), BATCHES)
    yield Case("gather", lambda lib, F, x: lib.gather(x, 1, whole(lib, x.shape[1], *x.shape)), BATCHES)
    yield Case("scatter_add", lambda lib, F, x: lib.scatter_add(x, 1, whole(lib, x.shape[1], *x.shape), x), BATCHES)


def _losses() -> Iterator[Case]:
    def labels(lib: Any, x: Any) -> Any:
        return whole(lib, x.shape[1], x.shape[0])

    def ctc(lib: Any, F: Any, x: Any) -> Any:
        steps, n, classes = x.shape
        targets = 1 + whole(lib, classes - 1, n, steps // 5)
        lengths = [lib.from_numpy(np.full(n, size)) for size in (steps, steps // 5)]
        return F.ctc_loss(lib.log_softmax(x, 2), targets, *lengths)

    def several(lib: Any, F: Any, x: Any) -> Any:
        classes = np.full(x.shape, -1)
        classes[:, :3] = np.random.default_rng(1).random(x.shape).argsort(1)[:, :3]
        return F.multilabel_margin_loss(x, lib.from_numpy(classes))

    classes: Sizes = (((2, 8),), ((128, 20),), ((2000, 20),))
    yield Case("F.ctc_loss", ctc, SEQUENCES)
    yield Case("F.multilabel_margin_loss", several, classes)
    yield Case("F.multi_margin_loss", lambda lib, F, x: F.multi_margin_loss(x, labels(lib, x)), classes)
    yield Case("F.nll_loss", lambda lib, F, x: F.nll_loss(x, labels(lib, x)), classes)
    pairs = tuple((s[0], s[0]) for s in classes)
    yield Case("F.kl_div", lambda lib, F, x, y: F.kl_div(x, y, reduction="batchmean"), pairs)
    for name in ("l1_loss", "huber_loss", "poisson_nll_loss"):
        yield Case(f"F.{name}", lambda lib, F, x, y, n=name: getattr(F, n)(x, y), pairs)
    yield Case("F.cosine_similarity", lambda lib, F, x, y: F.cosine_similarity(x, y), pairs)
    yield Case("F.triplet_margin_loss", lambda lib, F, x, y: F.triplet_margin_loss(x, y, -y), pairs)
    yield Case("cdist", lambda lib, F, x, y: lib.cdist(x, y), (((2, 8),) * 2, ((64, 16),) * 2, ((400, 16),) * 2))


def _bags() -> Iterator[Case]:
    tables: Sizes = (((8, 4),), ((100, 16),), ((2000, 16),))
    for mode in ("sum", "mean", "max"):

        def bags(lib: Any, F: Any, w: Any, mode: str = mode) -> Any:
            n = w.shape[0]
            starts = np.sort(np.random.default_rng(2).integers(0, 5 * n, n))
            starts[0] = 0
            return F.embedding_bag(whole(lib, n, 5 * n), w, lib.from_numpy(starts), mode=mode)

        yield Case(f"F.embedding_bag({mode})", bags, tables)


def _signals() -> Iterator[Case]:
    yield Case("fft.fft", lambda lib, F, x: lib.fft.fft(x).abs(), BATCHES)
    yield Case("fft.irfft", lambda lib, F, x: lib.fft.irfft(lib.fft.rfft(x)), BATCHES)
    yield Case("fft.fft2", lambda lib, F, x: lib.fft.fft2(x).abs(), SQUARE)
    for mode in ("nearest", "bicubic", "area"):
        yield Case(f"F.interpolate({mode})", lambda lib, F, x, m=mode: F.interpolate(x, scale_factor=2, mode=m), IMAGES)
