"""Special functions, under PyTorch's names (``torch.special``); declared in :mod:`agdbg_engine.ops.wide`."""

from __future__ import annotations

from .missing import lookup
from .ops import functions

_functions = functions("special")


__getattr__ = lookup(__name__, _functions)


def __dir__() -> list[str]:
    return sorted(_functions)
