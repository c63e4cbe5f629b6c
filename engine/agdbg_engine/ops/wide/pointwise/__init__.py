"""Elementwise functions, comparisons in place, Python's operators."""

from __future__ import annotations

import importlib

FAMILIES = (
    "limits",
    "trigonometry",
    "exponents",
    "blocks",
    "arithmetic",
    "scaled_sums",
    "choosing",
    "integers",
    "element_tests",
    "written_tests",
    "aliases",
    "dtypes",
    "operators",
)

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
