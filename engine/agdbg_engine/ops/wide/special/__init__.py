"""Special functions."""

from __future__ import annotations

import importlib

FAMILIES = (
    "functions",
    "gamma",
    "polynomials",
    "scipy_values",
)

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
