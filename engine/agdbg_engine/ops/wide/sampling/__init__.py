"""Random numbers and dropout."""

from __future__ import annotations

import importlib

FAMILIES = (
    "random_ops",
    "drawn",
    "native_dropout",
    "dropout",
)

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
