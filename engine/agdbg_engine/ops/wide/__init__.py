"""Ops beyond the hot ones, as interpreted rows: one file a family; see :mod:`.declare`."""

from __future__ import annotations

import importlib

from .declare import INPLACE, OPS, PUBLIC

__all__ = ["FAMILIES", "INPLACE", "OPS", "PUBLIC"]

FAMILIES = (
    "base", "special", "activations",
)  # fmt: skip

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
