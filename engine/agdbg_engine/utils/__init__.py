"""``agdbg_engine.utils``: checkpoints and data."""

from __future__ import annotations

from ..missing import public_names
from . import checkpoint, data

__all__ = ["checkpoint", "data"]

__getattr__ = public_names(__name__)
