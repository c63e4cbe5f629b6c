"""``utils.hooks``: what every ``register_*`` returns, for annotations and ``isinstance``."""

from __future__ import annotations

from ..hooks import RemovableHandle
from ..missing import public_names

__all__ = ["RemovableHandle"]

__getattr__ = public_names(__name__)
