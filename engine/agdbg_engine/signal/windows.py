"""Windows, under PyTorch's names (``torch.signal.windows``); declared in :mod:`agdbg_engine.ops.wide`."""

from __future__ import annotations

from typing import Any

from ..ops import functions

_functions = functions("signal.windows")


def __getattr__(name: str) -> Any:
    if name not in _functions:
        raise AttributeError(f"module 'agdbg_engine.signal.windows' has no function '{name}'")
    return _functions[name]


def __dir__() -> list[str]:
    return sorted(_functions)
