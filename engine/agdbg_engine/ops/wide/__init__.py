"""Ops beyond the hot ones, as interpreted rows: one file a family; see :mod:`.declare`."""

from __future__ import annotations

import importlib

from .declare import INPLACE, OPS, PUBLIC, RESHAPING

__all__ = ["FAMILIES", "INPLACE", "OPS", "PUBLIC", "RESHAPING"]

FAMILIES = (
    "base", "limits", "strides", "reshaping", "factories", "diagonals", "sliding", "triangles", "turning", "shapes", "copies", "pieces", "joining", "repeating", "trigonometry", "exponents", "arithmetic", "scaled_sums", "choosing", "integers", "element_tests", "written_tests", "special", "gamma", "polynomials", "aliases", "dtypes", "moving", "operators",
    "activations", "normalization",
    "convolution", "pad", "pad_modes", "conv", "fold", "pixel", "linalg", "max_pool", "avg_pool", "pool", "products", "einsum", "pool_adaptive", "pool_fractional", "upsample", "resample", "grid_sample", "grid",
    "fft", "fft_functions",
    "distances", "losses", "dropout", "embedding", "embedding_bag", "attention", "recurrent",
    "scans", "log_scans", "sorting", "medians", "multiples", "spreads",
    "quantiles", "differences", "trapezoids", "covariance", "renorm", "searching", "uniques", "histograms", "masks", "masked_rows",
    "index_ops", "scatter", "scatter_reduce", "taking", "masked_select", "nonzeros", "repeat_interleave",
    "random_ops", "sampling", "native_dropout", "signal_windows", "stft", "segments",
)  # fmt: skip

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
