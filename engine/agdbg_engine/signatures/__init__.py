"""How PyTorch's functions in C++ take their arguments, and what they say about wrong ones.

PyTorch looks at the types of all arguments before it does anything, by the declared forms of a function. Kernels here take
what they can compute with, which is more; so calls with arguments that are no tensors are looked at beforehand (once for each
combination of types), and calls that failed afterwards.
"""

from __future__ import annotations

import functools
from typing import Any

from .in_python import InPython, in_python
from .parser import Parser
from .table import forms

__all__ = ["Parser", "parser", "refusal"]


@functools.cache
def parser(key: str) -> Parser | InPython | None:
    """What looks at the arguments of a function (``topk``, ``linalg.norm``) or method (``Tensor.topk``); ``None``: none that
    PyTorch has in C++, or one with rules of its own.
    """
    found = forms(key)
    if found is None:
        return in_python(key)
    shown, signatures = found
    return Parser(shown, signatures, key.startswith("Tensor."))


def refusal(key: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception | None:
    """What PyTorch raises for the types of the arguments of a call; ``None`` where it takes them."""
    look = parser(key)
    return None if look is None else look.refusal(args, kwargs)
