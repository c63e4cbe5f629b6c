"""Arguments of public functions: PyTorch's other names for them, and its words about wrong ones.

Both cost a call nothing that has neither keywords nor failed.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from . import foreign
from .device import device
from .errors import class_name, details_of
from .foreign import described
from .host_memory import ran_out
from .memory_format import contiguous_format, preserve_format
from .signatures import Guard, refusal
from .strided import strided

__all__ = ["NotGiven", "check_options", "checked", "explained", "numbered", "renamed"]

Keywords = dict[str, Any]


class NotGiven(int):
    """A number that the caller left to the op: nodes of PyTorch show ``None`` for it."""


_OTHER_NAMES = {"axis": "dim", "keepdims": "keepdim", "split_size_or_sections": "split_size"}
_OF_NUMPY = {"x": 0, "a": 0, "x1": 0, "x2": 1}
"""NumPy's names for tensors, and the place of the parameter that they stand for."""
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
        elif name in _OF_NUMPY and (other := _by_numpy(name, parameters)) is not None:
            new[other] = value
        elif name not in _IDLE or not _asks_for_nothing(value, _IDLE[name]):
            new[name] = value
    first = next(iter(parameters))
    if args and first in new:  # the sizes among ``args`` come after it
        args = (new.pop(first), *args)
    return args, new


def _asks_for_nothing(value: Any, idle: tuple[Any, ...]) -> bool:
    """Whether ``value`` is one of ``idle``: the person's objects, of which some are compared by code of theirs, are not asked."""
    return any(value is v for v in idle) or (isinstance(value, str | device) and any(value == v for v in idle))


def _by_numpy(name: str, parameters: dict[str, inspect.Parameter]) -> str | None:
    """The parameter that NumPy's ``name`` for a tensor stands for; ``None`` when there is none."""
    own = list(parameters)
    at = _OF_NUMPY[name]
    return own[at] if at < len(own) and own[at] in (("self", "input", "t"), ("other",))[at] else None


# ----- wrong ones -----


def explained(
    function: Any,
    error: Exception,
    args: tuple[Any, ...],
    kwargs: Keywords,
    method: bool = False,
    in_python: bool = False,
) -> Exception | None:
    """What PyTorch says about memory that a failed call lacked, or about the first argument that has a wrong type.

    ``None`` when all are right.

    ``in_python``: PyTorch's function is written in Python, and calls with its arguments one that looks for tensors.
    """
    if isinstance(error, MemoryError):
        return ran_out(error)
    if not isinstance(error, AttributeError | ValueError if in_python else _BY_TYPES):
        return None
    op = function.__name__
    try:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return None
    for at, (name, parameter) in enumerate(_parameters(function).items(), 0 if method else 1):
        if name not in given:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            wrong = _no_tensor(given[name]) if isinstance(error, AttributeError) else None
            if wrong is not None:
                return wrong
            continue
        wanted = _wanted(_annotation(parameter), given[name])
        if in_python and wanted != ("Tensor" if isinstance(error, AttributeError) else "tuple of ints"):
            continue
        if wanted is not None:
            if in_python and op in _READS:
                return AttributeError(f"'{class_name(given[name])}' object has no attribute '{_READS[op]}'")
            shown = "input" if name in ("self", "t") else name
            place = "" if name in kwargs or parameter.kind is parameter.KEYWORD_ONLY else f" (position {at})"
            return TypeError(f"{op}(): argument '{shown}'{place} must be {wanted}, not {described(given[name])}")
    return None


_READS = {
    name: attribute
    for attribute, names in {
        "size": "binary_cross_entropy binary_cross_entropy_with_logits huber_loss instance_norm l1_loss mse_loss "
        "smooth_l1_loss",
        "dim": "dropout1d dropout2d dropout3d glu interpolate log_softmax margin_ranking_loss softmax softmin upsample "
        "upsample_bilinear upsample_nearest",
        "dtype": "embedding_bag", "norm": "normalize", "abs": "softsign", "tanh": "tanhshrink", "unsqueeze": "max_unpool1d",
        "ndim": "triplet_margin_with_distance_loss",
    }.items()
    for name in names.split()
}  # fmt: skip
"""What PyTorch's functions written in Python ask their arguments for before they call with them one that looks for tensors."""


def without_history(function: Any, error: Exception, args: tuple[Any, ...], kwargs: Keywords) -> Exception | None:
    """What PyTorch says before it comes to the ``error`` of an op: an argument is a view that has lost its history."""
    from .view import lost_history

    if not isinstance(error, RuntimeError | IndexError) or function.__name__ in _MADE_OF_OPS:
        return None
    if details_of(error).kind == "view-inplace":  # what may be written is looked at first
        return None
    return lost_history((*args, *kwargs.values()))


def _apart(function: Any, error: Exception, args: tuple[Any, ...], kwargs: Keywords) -> Exception | None:
    """The same where tensors are on two devices, which it looks for before shapes and dtypes."""
    from .ops.mixed_devices import in_words_of

    return in_words_of(function, args, kwargs) if isinstance(error, RuntimeError | IndexError) else None


_MADE_OF_OPS = frozenset((
    "flatten", "ger", "huber_loss", "l1_loss", "mse_loss", "narrow", "outer", "smooth_l1_loss",
))  # fmt: skip
"""Functions that look at sizes themselves before they call an op."""


def _no_tensor(values: tuple[Any, ...]) -> Exception | None:
    """What PyTorch says about the first of several tensors that is none, where they are not in a list."""
    from .tensor import Tensor

    for i, value in enumerate(values):
        if not isinstance(value, Tensor | list | tuple):
            return TypeError(f"expected Tensor as element {i} in argument 0, but got {class_name(value)}")
    return None


_BY_TYPES = (TypeError, AttributeError, NotImplementedError, ValueError, IndexError, ZeroDivisionError, StopIteration)
"""What comes of arguments of wrong types, which PyTorch looks at first; its :class:`RuntimeError` is of right ones."""
_INTS = frozenset(("kernel_size", "output_size", "normalized_shape", "shifts", "split_sizes", "pad"))
"""Arguments that are an integer or several."""


def _annotation(parameter: inspect.Parameter) -> str:
    if parameter.name in _INTS:
        return "ints"
    if parameter.name == "self" and parameter.annotation is parameter.empty:
        return "Tensor"  # a method of the class itself
    return str(parameter.annotation)


def _wanted(annotation: str, value: Any) -> str | None:
    """The type that a parameter wants and ``value`` has not, in PyTorch's words."""
    from .tensor import Tensor

    if annotation == "Tensor":
        return None if isinstance(value, Tensor) else "Tensor"
    if annotation == "Tensor | None":
        return None if value is None else _wanted("Tensor", value)
    if annotation == "int":
        is_number = value.numel() == 1 if isinstance(value, Tensor) else hasattr(value, "__index__")
        return None if is_number else "int"
    if annotation == "int | None":
        return None if value is None else _wanted("int", value)
    if annotation == "Sequence[Tensor]":
        return None if isinstance(value, list | tuple) else "tuple of Tensors"
    if annotation == "ints":
        return "tuple of ints" if isinstance(value, str) or (isinstance(value, Tensor) and value.numel() > 1) else None
    if annotation == "bool":
        return None if isinstance(value, bool | np.bool_) else "bool"
    return None


_OPERANDS = frozenset(
    ("self", "input", "other", "exponent", "end", "weight", "value", "src", "source", "values", "tensor", "tensors", "min", "max",
     "out", "condition", "mask", "index", "data", "obj", "alpha", "grad_output", "target", "q", "mean", "std", "rtol", "atol")
)  # fmt: skip
"""Arguments that may be tensors as such."""
_EXTREMES = frozenset(("max", "min"))
"""Functions whose second argument is a dimension or an operand."""


_OPS = (f"{__package__}.ops.", f"{__package__}.nn.functional")
"""Modules of functions that may be called once more: they change nothing before they fail."""


def numbered(function: Any, args: tuple[Any, ...], kwargs: Keywords) -> tuple[tuple[Any, ...], Keywords] | None:
    """The arguments of a call that failed, where it had tensors of one element or NumPy's numbers, with Python's instead.

    PyTorch takes them for any number. And of two numbers, which some functions take for tensors, one as a tensor. ``None``: there
    were none.
    """
    if not getattr(function, "__module__", "").startswith(_OPS) or function.__name__ in _EXTREMES:
        return None
    if args and function.__name__ in _ALSO_OF_NUMBERS and all(map(_is_number, (*args, kwargs.get("other", 0)))):
        from .creation import tensor

        return (tensor(args[0].item() if isinstance(args[0], np.generic) else args[0]), *args[1:]), kwargs
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


_ALSO_OF_NUMBERS = frozenset(("add", "sub", "mul", "div", "true_divide", "floor_divide"))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | complex | np.number | np.bool_)


def in_order(function: Any, args: tuple[Any, ...], kwargs: Keywords) -> tuple[tuple[Any, ...], Keywords]:
    """The arguments of a call without those by name, where all can do without; as they are where it cannot be called so."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError:  # said by the call itself
        return args, kwargs
    return bound.args, bound.kwargs


def _number_for(parameter: inspect.Parameter | None, value: Any) -> Any:
    from .tensor import Tensor

    if isinstance(value, np.number | np.bool_):
        return value.item()
    if (
        not isinstance(value, Tensor)
        or value.ndim
        or value.requires_grad
        or value._a.dtype.kind == "b"
        or parameter is None
    ):
        return value
    return value if parameter.name in _OPERANDS or "Tensor" in str(parameter.annotation) else value.item()


def checked(
    function: Callable[..., Any],
    method: bool = False,
    name: str = "",
    elsewhere: Callable[[tuple[Any, ...], Keywords], Any] | None = None,
) -> Callable[..., Any]:
    """A method, or a function that makes tensors of nothing, with PyTorch's names and words for its arguments.

    ``name`` is that of the method where it is not the function's, and of a function. ``elsewhere`` makes the calls that say where
    the result is to lie, in an ``out`` or in pinned memory.
    """

    key = f"Tensor.{name or function.__name__}" if method else name
    code = getattr(inspect.unwrap(function), "__code__", None)
    takes_any = code is not None and bool(code.co_flags & inspect.CO_VARARGS)  # none at all too, without failing
    guard = Guard(key, int(method), -takes_any)
    asks = method and key != "Tensor.new_tensor"  # which only copies what it is given
    from . import overrides

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if asks and overrides.seen:
            asked = overrides.asked_by(args[0] if args else None, (*args[1:], *kwargs.values()))
            if asked:
                return overrides.dispatch(overrides.canonical.get(call, call), asked, args, kwargs)
        if kwargs or (len(args) > guard.free and tuple(map(type, args)) not in guard.known):
            args, kwargs = guard.examine(args, kwargs)
        if kwargs:
            if elsewhere is not None and ("out" in kwargs or "pin_memory" in kwargs):
                return elsewhere(args, kwargs)
            args, kwargs = renamed(function, args, kwargs)
            if guard.blind:
                check_options(function.__name__, kwargs)
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if name != "tensor" and foreign.among(args, kwargs):
                raise foreign.refused(call, f"torch.{key}", args, kwargs) from None
            several = None if kwargs or type(error) is not TypeError else guard.gathered(args)
            if several is not None:
                return call(*several)
            numbers = numbered(function, args, kwargs)
            if numbers is not None:
                return call(*numbers[0], **numbers[1])
            # those with keywords were looked at
            better = None if kwargs else refusal(key, args[1:] if method else args, {})
            better = better or without_history(function, error, args, kwargs)
            better = better or _apart(function, error, args, kwargs)
            better = better or explained(function, error, args, kwargs, method)
            if better is None:
                raise
            raise better from None

    if name:
        call.__name__ = call.__qualname__ = name
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
