"""The norm of numbers some of which may be none: that is ``nan`` or ``inf``, as torch has it, never that of the others."""

import math
import sys
from typing import Literal

#: A norm as JSON has it, which knows no numbers that are not finite.
Norm = float | Literal["nan", "inf"]


def norm_of(finite: float, nans: int, infs: int) -> float:
    """The norm of numbers: that of those that are finite is known, and how many are not."""
    return math.nan if nans else math.inf if infs else min(finite, sys.float_info.max)


def norm_of_all(norms: list[float]) -> float:
    """The norm of what has these norms together."""
    if any(map(math.isnan, norms)):
        return math.nan  # hypot(nan, inf) is infinite
    return math.inf if math.inf in norms else min(math.hypot(*norms), sys.float_info.max)


def told(norm: float) -> Norm:
    """A norm for JSON."""
    return "nan" if math.isnan(norm) else "inf" if math.isinf(norm) else norm
