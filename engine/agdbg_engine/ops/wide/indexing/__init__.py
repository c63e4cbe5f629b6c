"""Elements picked, added, replaced by indices and masks."""

from __future__ import annotations

import importlib

FAMILIES = (
    "reading",
    "places",
    "index_ops",
    "scatter",
    "scatter_reduce",
    "taking",
    "masked_select",
    "nonzeros",
    "segments",
)

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
