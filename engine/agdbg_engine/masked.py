"""Reductions and normalizations of the elements where a mask is true, under PyTorch's names (``torch.masked``)."""

from __future__ import annotations

from typing import Any

from .ops.wide import PUBLIC

_functions = {name: public.function for name, public in PUBLIC["masked"].items()}
"""As they are: tensor-like objects are asked by the ops that they are made of, as in PyTorch."""


def __getattr__(name: str) -> Any:
    if name not in _functions:
        raise AttributeError(f"module 'agdbg_engine.masked' has no function '{name}'")
    return _functions[name]


def __dir__() -> list[str]:
    return sorted(_functions)
