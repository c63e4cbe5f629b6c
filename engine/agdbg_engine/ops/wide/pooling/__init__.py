"""Pooling: means and maxima over windows."""

from __future__ import annotations

import importlib

FAMILIES = (
    "arguments",
    "max_pool",
    "avg_pool",
    "fixed",
    "adaptive",
    "fractional",
)

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
