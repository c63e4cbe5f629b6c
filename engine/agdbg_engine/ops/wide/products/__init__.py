"""Products of vectors and matrices, and Einstein's summation."""

from __future__ import annotations

import importlib

FAMILIES = (
    "rows",
    "einsum",
)

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
