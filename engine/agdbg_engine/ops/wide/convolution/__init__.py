"""Convolution, and the windows that it reads."""

from __future__ import annotations

import importlib

FAMILIES = (
    "windows",
    "rows",
    "functions",
    "fold",
)

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
