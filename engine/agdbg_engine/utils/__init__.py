"""``agdbg_engine.utils``: checkpoints, data, and the handle of a hook."""

from __future__ import annotations

from ..missing import public_names
from . import checkpoint, data, hooks

__all__ = ["checkpoint", "data", "hooks"]

__getattr__ = public_names(__name__)
