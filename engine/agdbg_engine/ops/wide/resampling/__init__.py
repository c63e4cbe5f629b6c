"""Padding, interpolation, reading between elements, rearranged channels."""

from __future__ import annotations

import importlib

FAMILIES = (
    "axes",
    "pad",
    "pad_modes",
    "pixel",
    "upsample",
    "functions",
    "grid_taps",
    "grid_sample",
    "grid",
)

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
