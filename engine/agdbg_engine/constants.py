"""Numbers and other constants that PyTorch has at its top."""

from __future__ import annotations

from math import e, inf, nan, pi

newaxis = None

__all__ = ["e", "inf", "nan", "newaxis", "pi"]
