"""Linear algebra, under PyTorch's names (``torch.linalg``); declared in :mod:`agdbg_engine.ops.wide`."""

from __future__ import annotations

from typing import Any

from .ops import functions
from .ops.wide.linalg.checks import LinAlgError as LinAlgError  # torch.linalg's

_functions = functions("linalg")


def __getattr__(name: str) -> Any:
    if name not in _functions:
        raise AttributeError(f"module 'agdbg_engine.linalg' has no function '{name}'")
    return _functions[name]


def __dir__() -> list[str]:
    return sorted((*_functions, "LinAlgError"))
