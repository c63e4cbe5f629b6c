"""``agdbg_engine.utils``: checkpoints."""

from __future__ import annotations

from . import checkpoint

__all__ = ["checkpoint"]
