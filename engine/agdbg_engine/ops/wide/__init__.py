"""Ops beyond the hot ones, as interpreted rows: one package a subject; see :mod:`.declare`."""

from __future__ import annotations

import importlib

from .declare import INPLACE, OPS, PUBLIC, RESHAPING

__all__ = ["FAMILIES", "INPLACE", "OPS", "PUBLIC", "RESHAPING"]

FAMILIES = (
    "base", "pointwise", "shapes", "special", "activations", "normalization", "convolution", "resampling",
    "linalg", "pooling", "products", "signal", "layers", "losses", "sampling", "attention", "scans",
    "sorting", "reductions", "indexing",
)  # fmt: skip

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
