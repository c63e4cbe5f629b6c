"""What formulas of several families call: functions that kernels and recorded ops have in two forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..complexes import matrix_adjoint
from ..matrix import matmul as _matmul
from ..shape import matrix_transpose
from .declare import in_both

in_both("matmul", np.matmul, _matmul)
in_both("mT", lambda x: np.swapaxes(x, -1, -2), matrix_transpose)
in_both("mH", lambda x: np.conj(np.swapaxes(x, -1, -2)), matrix_adjoint)


def _astype(x: Any, dtype: Any) -> Any:
    return x.astype(dtype)


in_both("cast", _astype, lambda x, dtype: x.to(dtype))
