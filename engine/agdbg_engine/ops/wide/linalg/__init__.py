"""Linear algebra (``torch.linalg`` and its older names): one file a subject."""

from __future__ import annotations

import importlib

PARTS = (
    "parts", "solve", "triangular", "svd", "det", "cholesky", "qr", "eig", "norms",
    "tensors", "lu", "lstsq", "expm", "householder", "ldl", "lowrank",
)  # fmt: skip

for _part in PARTS:
    importlib.import_module(f"{__name__}.{_part}")
