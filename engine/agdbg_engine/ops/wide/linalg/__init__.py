"""Linear algebra (``torch.linalg`` and its older names): one file a subject."""

from __future__ import annotations

import importlib

from ...returned import returned_as
from ..declare import OPS

PARTS = (
    "parts", "solve", "triangular", "svd", "det", "cholesky", "qr", "eig", "norms",
    "tensors", "lu", "lstsq", "expm", "householder", "ldl", "lowrank",
)  # fmt: skip

for _part in PARTS:
    importlib.import_module(f"{__name__}.{_part}")

for _name in ("eigh", "eig", "svd", "qr", "slogdet", "lu", "lu_factor_ex", "cholesky_ex", "ldl_factor_ex", "lstsq"):
    returned_as(f"linalg_{_name}")(OPS[f"{_name}_raw"].result)
returned_as("linalg_inv_ex")(OPS["inv_raw"].result)
