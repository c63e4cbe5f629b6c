"""Linear algebra, under PyTorch's names (``torch.linalg``); declared in :mod:`agdbg_engine.ops.wide`."""

from __future__ import annotations

from .missing import lookup
from .ops import functions
from .ops.wide.linalg.checks import LinAlgError as LinAlgError  # torch.linalg's

_functions = functions("linalg")


__getattr__ = lookup(__name__, _functions)


def __dir__() -> list[str]:
    return sorted((*_functions, "LinAlgError"))
