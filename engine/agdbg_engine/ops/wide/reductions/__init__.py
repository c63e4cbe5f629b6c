"""Reductions: products, medians, quantiles, statistics, and those with a mask."""

from __future__ import annotations

import importlib

FAMILIES = (
    "multiples",
    "spreads",
    "medians",
    "quantiles",
    "covariance",
    "renorm",
    "masks",
    "masked_rows",
)

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
