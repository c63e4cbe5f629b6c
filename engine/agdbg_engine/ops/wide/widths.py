"""Half precision in kernels."""

from __future__ import annotations

from typing import Any

import numpy as np


def single(x: Any) -> Any:
    """Half precision in float32, as PyTorch computes with it; other buffers as they are."""
    return x.astype(np.float32) if x.dtype.kind == "f" and x.dtype.itemsize < 4 else x
