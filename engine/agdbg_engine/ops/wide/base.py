"""What formulas of several families call: functions that kernels and recorded ops have in two forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..complexes import matrix_adjoint
from ..kernels_reduce import in_single
from ..matrix import matmul as _matmul
from ..shape import matrix_transpose
from .declare import in_both

in_both("matmul", np.matmul, _matmul)
in_both("mT", lambda x: np.swapaxes(x, -1, -2), matrix_transpose)
in_both("mH", lambda x: np.conj(np.swapaxes(x, -1, -2)), matrix_adjoint)


def _astype(x: Any, dtype: Any) -> Any:
    return x.astype(dtype)


def _in_op_math(x: Any, number: float) -> Any:
    """``x * number`` as PyTorch computes it: a number beside half precision is not rounded to it first."""
    return in_single(np.multiply, x, np.float32(number)) if x.dtype.char == "e" else x * number


in_both("in_op_math", _in_op_math, lambda x, number: x * number)
in_both("cast", _astype, lambda x, dtype: x.to(dtype))
