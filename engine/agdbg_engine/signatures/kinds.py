"""Kinds of arguments: which values PyTorch takes for each, and what it calls them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..foreign import described, is_pytorchs

_WORDS = {
    "Scalar": "Number", "ScalarType": "torch.dtype", "Generator": "torch.Generator", "MemoryFormat": "torch.memory_format",
    "Device": "torch.device", "Layout": "torch.layout", "Dimname": "name",
}  # fmt: skip
_PACKAGE = __package__.partition(".")[0]
_OF_NUMPY = (np.number, np.bool_)
_NUMBERS = (int, float, complex, np.number, np.bool_)


@dataclass(frozen=True)
class Parameter:
    """One argument of a form."""

    name: str
    kind: str
    size: int | None
    """Of a list the number of elements for which one number stands, 0 where none does; ``None``: no list."""
    none: bool
    """Whether it may be ``None``."""
    default: str | None
    """The text of its default; ``None`` where it must be given."""
    keyword_only: bool
    symbolic: bool = False
    """An integer that may be a tensor with one element of any shape."""

    @property
    def wanted(self) -> str:
        """What must be given, in PyTorch's words."""
        if self.size is None:
            return _WORDS.get(self.kind, self.kind)
        return "tuple of names" if self.kind == "Dimname" else f"tuple of {self.kind}s"

    @property
    def is_tensors(self) -> bool:
        """Whether it is a list of tensors."""
        return self.kind == "Tensor" and self.size is not None

    def __str__(self) -> str:
        default = (
            self.default if self.default is None or not self.default.startswith("[") else f"({self.default[1:-1]})"
        )
        return f"{self.wanted} {self.name}" + ("" if default is None else f" = {default}")


class Taken:
    """What looking at one call has found: whether values counted, and not types alone."""

    __slots__ = ("by_value", "element")

    def __init__(self) -> None:
        self.by_value = False
        self.element = -1
        """Where in a list the first wrong element is."""

    def takes(self, parameter: Parameter, value: Any, numbers: bool) -> bool:
        """Whether ``value`` will do; ``numbers``: they are taken for tensors."""
        self.element = -1
        if parameter.size is not None:
            return self._takes_list(parameter, value)
        return self._takes_one(parameter.kind, value, numbers, parameter.symbolic)

    def _takes_one(self, kind: str, value: Any, numbers: bool, symbolic: bool = False) -> bool:
        if kind == "Tensor":
            return is_tensor(value) or (numbers and isinstance(value, _NUMBERS))
        if kind == "ScalarType" and isinstance(value, type):  # their type is the same whichever they are
            self.by_value = True
        if kind in ("int", "float", "Scalar"):
            if is_tensor(value):
                self.by_value = True
                return _is_number(kind, value, symbolic)
            if kind == "int":
                return is_integer(value, symbolic)
            return isinstance(value, _PYTHON[kind])
        return kind not in _CHECKS or _CHECKS[kind](value)

    def _takes_list(self, parameter: Parameter, value: Any) -> bool:
        kind = parameter.kind
        if isinstance(value, tuple | list):
            if not value or kind == "Tensor":
                return True
            self.by_value = self.by_value or any(map(is_tensor, value))
            first = value[0] if kind != "float" or not is_tensor(value[0]) else 1.0
            if self._takes_one(kind, first, False, symbolic=kind == "int"):
                return True
            self.element = 0
            return False
        if not parameter.size or kind == "Tensor":
            return False
        return self._takes_one(kind, value, False, symbolic=True)


_PYTHON: dict[str, Any] = {
    "float": (int, float, np.floating, np.integer, np.bool_),
    "Scalar": _NUMBERS,
}


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor, or stands for one."""
    from ..tensor import Tensor

    return isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")


def _is_number(kind: str, value: Any, symbolic: bool) -> bool:
    """Whether a tensor is taken for a number."""
    from ..tensor import Tensor

    if not isinstance(value, Tensor):
        return False
    if kind == "int":
        if symbolic:
            return bool(value.numel() == 1 and value._a.dtype.kind in "iub")
        return bool(value.ndim == 0 and value._a.dtype.kind in "iu")
    return bool(value.ndim == 0 and not value.requires_grad)


def _is_dtype(value: Any) -> bool:
    return isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, _NUMBERS))


def _is_device(value: Any) -> bool:
    from ..device import device

    return isinstance(value, device | str | int) and not isinstance(value, bool)


def _is_layout(value: Any) -> bool:
    from ..strided import Strided

    return isinstance(value, Strided)


def _is_format(value: Any) -> bool:
    from ..memory_format import memory_format

    return isinstance(value, memory_format)


def _is_generator(value: Any) -> bool:
    from ..random import Generator

    return isinstance(value, Generator)


_CHECKS: dict[str, Any] = {
    "bool": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "ScalarType": _is_dtype,
    "Device": _is_device,
    "Layout": _is_layout,
    "MemoryFormat": _is_format,
    "Generator": _is_generator,
    "Dimname": lambda value: isinstance(value, str),
}


def is_integer(value: Any, symbolic: bool) -> bool:
    """Whether ``value``, which is no tensor, is taken for an integer; bools are not."""
    if isinstance(value, bool | np.bool_):
        return False
    return isinstance(value, int | np.integer) or (symbolic and hasattr(type(value), "__index__"))


def in_python(
    places: Iterable[Parameter | None],
    args: tuple[Any, ...],
    named: Callable[[str], Parameter | None],
    kwargs: dict[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The arguments of a call with Python's numbers for NumPy's, which have a type that results would get, and for tensors that
    stand for numbers, each of which is read once; and, where a parameter is an integer or several, with integers for bools in a
    list and for objects that stand for integers.

    PyTorch takes them so too. ``places`` are the parameters of ``args``, ``named`` tells those of ``kwargs``. ``None``: the
    arguments are such.
    """
    new = tuple(map(_in_python, places, args))
    by_name = {n: _in_python(named(n), v) for n, v in kwargs.items()}
    same = all(map(operator.is_, new, args)) and all(by_name[n] is v for n, v in kwargs.items())
    return None if same else (new, by_name)


def _in_python(parameter: Parameter | None, value: Any) -> Any:
    if isinstance(value, _OF_NUMPY):
        return value if parameter is not None and parameter.kind == "object" else value.item()
    if parameter is None or parameter.kind not in _OF_NUMBERS or type(value) in (int, float):
        return value
    if isinstance(value, tuple | list):
        plain = [_number(parameter.kind, v) for v in value]
        changed = any(map(operator.is_not, plain, value))
        return (plain if isinstance(value, list) else tuple(plain)) if changed else value
    return _number(parameter.kind, value)


_OF_NUMBERS = ("int", "float", "Scalar")


def _number(kind: str, value: Any) -> Any:
    """``value``, which stands for a number of this ``kind`` or is one, as Python's."""
    from ..tensor import Tensor

    if isinstance(value, Tensor):
        return value.item()
    return operator.index(value) if kind == "int" and hasattr(type(value), "__index__") else value


def type_name(value: Any) -> str:
    """The type of a value as PyTorch shows it."""
    kind = type(value)
    if is_pytorchs(kind):
        return described(value)
    if isinstance(value, np.dtype):
        return "torch.dtype"
    if kind.__module__.startswith(_PACKAGE) and kind.__name__ in ("device", "memory_format", "Size"):
        return f"torch.{kind.__name__}"
    if kind.__name__ == "dtype":
        name = str(value).rpartition(".")[2]
        return f"the dtype of another library, {kind.__module__}: give {_PACKAGE}.{name}"
    if kind.__name__ == "device":
        return f"the device of another library, {kind.__module__}: give its name, '{value}'"
    return f"numpy.{kind.__name__.rstrip('_')}" if kind.__module__ == "numpy" else kind.__name__
