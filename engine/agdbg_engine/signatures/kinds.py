"""Kinds of arguments: which values PyTorch takes for each, and what it calls them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_WORDS = {
    "Scalar": "Number", "ScalarType": "torch.dtype", "Generator": "torch.Generator", "MemoryFormat": "torch.memory_format",
    "Device": "torch.device", "Layout": "torch.layout", "Dimname": "name",
}  # fmt: skip
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
        if kind in ("int", "float", "Scalar"):
            if is_tensor(value):
                self.by_value = True
                return _is_number(kind, value, symbolic)
            return isinstance(value, _PYTHON[kind]) and not (kind == "int" and isinstance(value, bool | np.bool_))
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
    "int": (int, np.integer),
    "float": (int, float, np.floating, np.integer, np.bool_),
    "Scalar": _NUMBERS,
}


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor, or stands for one."""
    from ..tensor import Tensor

    return isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")


def _is_number(kind: str, value: Any, symbolic: bool) -> bool:
    """Whether a tensor is taken for a number."""
    if kind == "int":
        if symbolic:
            return bool(value.numel() == 1 and value._a.dtype.kind in "iub")
        return bool(value.ndim == 0 and value._a.dtype.kind in "iu")
    return bool(value.ndim == 0 and not value.requires_grad)


def _is_dtype(value: Any) -> bool:
    return isinstance(value, np.dtype | type)


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
    "MemoryFormat": _is_format,
    "Generator": _is_generator,
    "Dimname": lambda value: isinstance(value, str),
}


def in_python_numbers(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The arguments of a call with Python's numbers for NumPy's, which have a type that results would get; ``None``: none are.

    PyTorch takes them so too.
    """
    if not any(isinstance(v, _OF_NUMPY) for v in (*args, *kwargs.values())):
        return None
    return tuple(map(_in_python, args)), {name: _in_python(v) for name, v in kwargs.items()}


def _in_python(value: Any) -> Any:
    return value.item() if isinstance(value, _OF_NUMPY) else value


def type_name(value: Any) -> str:
    """The type of a value as PyTorch shows it."""
    kind = type(value)
    return f"numpy.{kind.__name__.rstrip('_')}" if kind.__module__ == "numpy" else kind.__name__
