"""Reductions and normalizations of the elements where a mask is true, under PyTorch's names (``torch.masked``)."""

from __future__ import annotations

from .foreign import refusing
from .missing import lookup
from .ops.wide import PUBLIC

_functions = {name: refusing(public.function) for name, public in PUBLIC["masked"].items()}
"""As they are: tensor-like objects are asked by the ops that they are made of, as in PyTorch."""


__getattr__ = lookup(__name__, _functions)


def __dir__() -> list[str]:
    return sorted(_functions)
