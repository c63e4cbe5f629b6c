"""Along a dimension: running sums, differences, integrals."""

from __future__ import annotations

import importlib

FAMILIES = (
    "rows",
    "log_scans",
    "differences",
    "trapezoids",
)

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
