"""Functions of integers: common divisors, shifts of bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..declare import op

_COMMON: dict[str, Any] = {
    "elementwise": True, "inplace": True, "out": True, "where": "torch Tensor",
    "self": "not_implemented('integers have no gradient')", "other": "not_implemented('integers have no gradient')",
}  # fmt: skip
"""Both operands count for the dtype of the result, as where there is a gradient; of integers nothing is recorded."""

op("gcd(self, other)", "NotImplemented", kinds="iu", value=np.gcd, **_COMMON)
op("lcm(self, other)", "NotImplemented", kinds="iu", value=np.lcm, **_COMMON)

_NUMBERS = {"self": "NotImplemented", "other": "NotImplemented"}
left = op(
    "bitwise_left_shift(self, other)", "NotImplemented", scalars=_NUMBERS, kinds="iu", value=np.left_shift, **_COMMON
)
right = op(
    "bitwise_right_shift(self, other)", "NotImplemented", scalars=_NUMBERS, kinds="iu", value=np.right_shift, **_COMMON
)
