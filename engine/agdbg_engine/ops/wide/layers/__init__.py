"""Parts of networks: embeddings, distances, steps of recurrent networks."""

from __future__ import annotations

import importlib

FAMILIES = (
    "embedding",
    "embedding_bag",
    "distances",
    "pairs",
    "packing",
    "recurrent",
)

for _family in FAMILIES:
    importlib.import_module(f"{__name__}.{_family}")
