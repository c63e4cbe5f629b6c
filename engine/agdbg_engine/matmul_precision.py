"""``set_float32_matmul_precision``: products of float32 are computed in float32 always, so that only the name is kept."""

from __future__ import annotations

import warnings

from .sites import user_stacklevel

_precision = "highest"
_NAMES = ("highest", "high", "medium")


def set_float32_matmul_precision(precision: str) -> None:
    """How exact matrix products of float32 must be at least: ``"highest"``, ``"high"`` or ``"medium"``."""
    global _precision
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision in _NAMES:
        _precision = precision
        return
    warnings.warn(
        f"{precision} is not one of 'highest', 'high', or 'medium'; the current setFloat32MatmulPrecision call has no effect.",
        stacklevel=user_stacklevel(),
    )


def get_float32_matmul_precision() -> str:
    """What :func:`set_float32_matmul_precision` was given."""
    return _precision
