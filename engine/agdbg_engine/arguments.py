"""Arguments of public functions: PyTorch's other names for them, and its words about wrong ones.

Both cost a call nothing that has neither keywords nor failed.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .memory_format import contiguous_format, preserve_format
from .strided import strided

__all__ = ["NotGiven", "check_options", "checked", "explained", "numbered", "renamed"]

Keywords = dict[str, Any]


class NotGiven(int):
    """A number that the caller left to the op: nodes of PyTorch show ``None`` for it."""


_OTHER_NAMES = {"axis": "dim", "keepdims": "keepdim", "split_size_or_sections": "split_size"}
_SIZES = ("size", "shape", "dims", "repeats")
_IDLE: dict[str, tuple[Any, ...]] = {
    "memory_format": (None, preserve_format, contiguous_format), "generator": (None,), "layout": (None, strided),
    "out": (None,), "non_blocking": (False, True), "device": (None, "cpu"),
}  # fmt: skip
"""Keywords of PyTorch that ask for nothing when they have these values."""


@functools.cache
def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function).parameters)


def renamed(function: Any, args: tuple[Any, ...], kwargs: Keywords) -> tuple[tuple[Any, ...], Keywords]:
    """A call of ``function`` with the names that its parameters have; those that it does not know are left to Python."""
    parameters = _parameters(function)
    if not kwargs.keys() - parameters and kwargs.keys().isdisjoint(_SIZES):
        return args, kwargs
    new: Keywords = {}
    for name, value in kwargs.items():
        if name in _SIZES and any(p.kind is p.VAR_POSITIONAL for p in parameters.values()):
            args = (*args, value)
        elif name in parameters:
            new[name] = value
        elif name in ("input", "tensor"):
            new["self" if "self" in parameters else next(iter(parameters))] = value
        elif _OTHER_NAMES.get(name) in parameters:
            new[_OTHER_NAMES[name]] = value
        elif name not in _IDLE or not any(value is v or value == v for v in _IDLE[name]):
            new[name] = value
    first = next(iter(parameters))
    if args and first in new:  # the sizes among ``args`` come after it
        args = (new.pop(first), *args)
    return args, new


# ----- wrong ones -----


def explained(
    function: Any, error: Exception, args: tuple[Any, ...], kwargs: Keywords, method: bool = False
) -> Exception | None:
    """What PyTorch says about the first argument of a failed call that has a wrong type; ``None`` when all are right."""
    if not isinstance(error, TypeError | AttributeError | NotImplementedError):
        return None
    op = function.__name__
    try:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return None
    for at, (name, parameter) in enumerate(_parameters(function).items(), 0 if method else 1):
        if name not in given or parameter.kind is parameter.VAR_POSITIONAL:
            continue
        wanted = _wanted(str(parameter.annotation), given[name])
        if wanted is not None:
            shown = "input" if name in ("self", "t") else name
            place = "" if name in kwargs or parameter.kind is parameter.KEYWORD_ONLY else f" (position {at})"
            return TypeError(f"{op}(): argument '{shown}'{place} must be {wanted}, not {type(given[name]).__name__}")
    return None


def _wanted(annotation: str, value: Any) -> str | None:
    """The type that a parameter wants and ``value`` has not, in PyTorch's words."""
    from .tensor import Tensor

    if annotation == "Tensor":
        return None if isinstance(value, Tensor) else "Tensor"
    if annotation == "int":
        return None if hasattr(value, "__index__") or isinstance(value, Tensor) else "int"
    if annotation == "int | None":
        return None if value is None else _wanted("int", value)
    if annotation == "Sequence[Tensor]":
        return None if isinstance(value, list | tuple) else "tuple of Tensors"
    if annotation == "bool":
        return None if isinstance(value, bool | np.bool_) else "bool"
    return None


_OPERANDS = frozenset(
    ("self", "input", "other", "exponent", "end", "weight", "value", "src", "source", "values", "tensor", "tensors", "min", "max",
     "out", "condition", "mask", "index", "data", "obj", "alpha", "grad_output", "target")
)  # fmt: skip
"""Arguments that may be tensors as such."""


_OPS = (f"{__package__}.ops.", f"{__package__}.nn.functional")
"""Modules of functions that may be called once more: they change nothing before they fail."""


def numbered(function: Any, args: tuple[Any, ...], kwargs: Keywords) -> tuple[tuple[Any, ...], Keywords] | None:
    """The arguments of a call that failed, where it had tensors of one element for numbers with these instead.

    PyTorch takes them for any number. ``None``: there were none.
    """
    if not getattr(function, "__module__", "").startswith(_OPS):
        return None
    parameters = list(_parameters(function).values())
    takes_more = [p for p in parameters if p.kind is p.VAR_POSITIONAL]
    by_place = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD or p.kind is p.POSITIONAL_ONLY]
    places = [*by_place, *takes_more * max(0, len(args) - len(by_place))]
    new = tuple(_number_for(p, a) for p, a in zip(places, args, strict=False))
    if len(new) < len(args):
        return None
    by_name = {n: _number_for(_parameters(function).get(n), a) for n, a in kwargs.items()}
    same = all(a is b for a, b in zip(new, args, strict=True)) and all(by_name[n] is a for n, a in kwargs.items())
    return None if same else (new, by_name)


def in_order(function: Any, args: tuple[Any, ...], kwargs: Keywords) -> tuple[tuple[Any, ...], Keywords]:
    """The arguments of a call without those by name, where all can do without; as they are where it cannot be called so."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError:  # said by the call itself
        return args, kwargs
    return bound.args, bound.kwargs


def _number_for(parameter: inspect.Parameter | None, value: Any) -> Any:
    from .tensor import Tensor

    if (
        not isinstance(value, Tensor)
        or value.ndim
        or value.requires_grad
        or value._a.dtype.kind == "b"
        or parameter is None
    ):
        return value
    return value if parameter.name in _OPERANDS or "Tensor" in str(parameter.annotation) else value.item()


def checked(function: Callable[..., Any], method: bool = False) -> Callable[..., Any]:
    """A method, or a function that makes tensors of nothing, with PyTorch's names and words for its arguments."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            args, kwargs = renamed(function, args, kwargs)
            check_options(function.__name__, kwargs)
        try:
            return function(*args, **kwargs)
        except Exception as error:
            numbers = numbered(function, args, kwargs)
            if numbers is not None:
                return call(*numbers[0], **numbers[1])
            better = explained(function, error, args, kwargs, method)
            if better is None:
                raise
            raise better from None

    return call


def check_options(op: str, options: Keywords) -> None:
    """Refuse what is no dtype and no truth value."""
    dtype = options.get("dtype")
    if dtype is not None and (isinstance(dtype, str) or not isinstance(dtype, np.dtype | type)):
        raise TypeError(f"{op}(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    for name in ("requires_grad", "keepdim", "pin_memory"):
        value = options.get(name, False)
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"{op}(): argument '{name}' must be bool, not {type(value).__name__}")
