"""PyTorch's names of the methods of tensors in what Python itself says about wrong arguments.

Python shows a function's ``__qualname__``: of a method that PyTorch has in C ``TensorBase.dim`` or ``is_contiguous``, of one that
it has in Python ``Tensor.norm``, and here the class among whose methods it happens to be.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from ..arguments import checked
from ..own_init import copied
from ..signatures.parser import none_taken
from ..tensor import Tensor

_IN_PYTHON = frozenset(("istft", "lu", "norm", "split", "stft", "unflatten", "unique", "unique_consecutive"))
"""Methods that PyTorch has in Python, and the engine as functions."""
_ALONE = (
    "data_ptr", "element_size", "get_device", "is_complex", "is_conj", "is_floating_point", "is_inference", "is_neg", "is_signed",
    "item", "resolve_neg", "retain_grad", "storage_offset", "tolist",
)  # fmt: skip
"""Methods that take nothing and are called seldom enough to look at what they were given."""
_ALONE_AND_OFTEN = ("detach", "detach_", "dim", "numel")
_PARSED = ("as_subclass", "is_contiguous", "numpy", "record_stream", "requires_grad_", "size", "stride", "type")
"""Methods of which PyTorch itself tells, without naming a class."""


def in_python(name: str, function: Any) -> Any:
    """The function of a method, of the name that errors show."""
    if name not in _IN_PYTHON or not isinstance(function, types.FunctionType):
        return function
    own = copied(function)
    own.__qualname__ = f"Tensor.{name}"
    return own


def name_methods() -> None:
    """Give the methods that tensors inherit PyTorch's names."""
    for part in Tensor.__mro__[:-1]:
        for name, function in vars(part).items():
            if isinstance(function, types.FunctionType) and function.__qualname__ == f"{part.__name__}.{name}":
                alone = name in _ALONE or name in _ALONE_AND_OFTEN
                function.__qualname__ = f"TensorBase.{name}" if alone else name if name in _PARSED else f"Tensor.{name}"
    for name in ("is_pinned", "is_same_size", "is_set_to", "pin_memory", "to_dense"):
        setattr(Tensor, name, checked(getattr(Tensor, name), method=True, name=name))
    for other, name in (("ndimension", "dim"), ("nelement", "numel")):
        setattr(Tensor, other, _alone(other, getattr(Tensor, name)))
    for name in _ALONE:
        setattr(Tensor, name, _alone(name, getattr(Tensor, name)))


def _alone(name: str, function: Callable[[Any], Any]) -> Any:
    @functools.wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs:
            raise none_taken(name, args, kwargs)
        return function(self)

    call.__name__ = name
    return call
