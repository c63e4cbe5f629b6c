"""``agdbg_engine.utils``: checkpoints and data."""

from __future__ import annotations

from . import checkpoint, data

__all__ = ["checkpoint", "data"]
