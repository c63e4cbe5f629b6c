"""Ops beyond the hot ones, as interpreted rows: one file a family; see :mod:`.declare`."""

from __future__ import annotations

import importlib

from .declare import INPLACE, OPS, PUBLIC

__all__ = ["FAMILIES", "INPLACE", "OPS", "PUBLIC"]

FAMILIES = (
    "base", "limits", "strides", "diagonals", "sliding", "triangles", "turning", "shapes", "copies", "pieces", "joining", "repeating", "trigonometry", "exponents", "arithmetic", "choosing", "integers", "element_tests", "written_tests", "special", "gamma", "polynomials", "aliases", "operators",
    "activations", "normalization",
    "convolution", "pad", "pad_modes", "conv", "fold", "pixel", "linalg", "max_pool", "avg_pool", "pool", "products", "einsum", "pool_adaptive", "pool_fractional", "upsample", "resample",
)  # fmt: skip

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
