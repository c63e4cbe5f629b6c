"""Other shapes and orders: views, their copies, pieces and wholes."""

from __future__ import annotations

import importlib

FAMILIES = (
    "strides",
    "reshaping",
    "factories",
    "diagonals",
    "sliding",
    "triangles",
    "turning",
    "moves",
    "copies",
    "pieces",
    "joining",
    "repeating",
    "repeat_interleave",
    "bytes",
    "devices",
)

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
