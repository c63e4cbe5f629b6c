"""Elements in order, and where they belong."""

from __future__ import annotations

import importlib

FAMILIES = (
    "rows",
    "searching",
    "uniques",
    "histograms",
)

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
