"""Fourier transforms and windows of signals."""

from __future__ import annotations

import importlib

FAMILIES = (
    "rows",
    "functions",
    "windows",
    "stft",
)

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
