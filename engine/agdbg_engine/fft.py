"""Discrete Fourier transforms, under PyTorch's names (``torch.fft``); declared in :mod:`agdbg_engine.ops.wide`."""

from __future__ import annotations

from typing import Any

from .ops import functions

_functions = functions("fft")


def __getattr__(name: str) -> Any:
    if name not in _functions:
        raise AttributeError(f"module 'agdbg_engine.fft' has no function '{name}'")
    return _functions[name]


def __dir__() -> list[str]:
    return sorted(_functions)
