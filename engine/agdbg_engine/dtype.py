"""Dtypes are NumPy's; this module adds PyTorch's names, promotion rules and default dtype."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

float16 = np.dtype("float16")
float32 = np.dtype("float32")
float64 = np.dtype("float64")
complex64 = np.dtype("complex64")
complex128 = np.dtype("complex128")
uint8 = np.dtype("uint8")
int8 = np.dtype("int8")
int16 = np.dtype("int16")
int32 = np.dtype("int32")
int64 = np.dtype("int64")
bool = np.dtype("bool")
dtype = np.dtype
"""The class of all dtypes."""

ALIASES: dict[str, np.dtype[Any]] = {
    "half": float16, "float": float32, "double": float64, "short": int16, "int": int32, "long": int64,
    "cfloat": complex64, "cdouble": complex128,
}  # fmt: skip
"""PyTorch's other names of dtypes; not module variables, since they would hide Python's own."""

_SCALAR_TYPE = {
    float16: "Half", float32: "Float", float64: "Double", complex64: "ComplexFloat", complex128: "ComplexDouble",
    uint8: "Byte", int8: "Char", int16: "Short", int32: "Int", int64: "Long", bool: "Bool",
}  # fmt: skip
_CATEGORY = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
_default = float32


def get_default_dtype() -> np.dtype[Any]:
    """The dtype of tensors made from Python floats (float32 unless changed)."""
    return _default


def set_default_dtype(dtype: np.dtype[Any]) -> None:
    """Set the dtype of tensors made from Python floats; only floating dtypes."""
    global _default
    if not isinstance(dtype, np.dtype | type):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if np.dtype(dtype).kind != "f":
        raise TypeError("only floating-point types are supported as the default type")
    _default = np.dtype(dtype)


def scalar_type(dtype: np.dtype[Any]) -> str:
    """PyTorch's C++ name of a dtype, as its error messages print it: ``Float`` for float32."""
    return _SCALAR_TYPE.get(dtype) or str(dtype)


_CPP = {
    float16: "c10::Half", complex64: "c10::complex<float>", complex128: "c10::complex<double>", uint8: "unsigned char",
    int8: "signed char", int16: "short int", int32: "int", int64: "long int",
}  # fmt: skip


def cpp_type(dtype: np.dtype[Any]) -> str:
    """The C++ type behind a dtype, as some error messages print it: ``float`` for float32."""
    return _CPP.get(dtype) or scalar_type(dtype).lower()


def is_differentiable(dtype: np.dtype[Any]) -> builtins.bool:
    """Only floating and complex dtypes can require gradients."""
    return dtype.kind in "fc"


def category(dtype: np.dtype[Any]) -> int:
    """0 bool, 1 integer, 2 floating, 3 complex: promotion never leaves the highest category present."""
    return _CATEGORY[dtype.kind]


def promote_types(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The common dtype of two tensors that both have dimensions: an integer beside a float takes the float's."""
    if a == b:
        return a
    if category(a) >= 2 > category(b):
        return a
    if category(b) >= 2 > category(a):
        return b
    return np.promote_types(a, b)


def result_type(operands: list[tuple[np.dtype[Any], int]]) -> np.dtype[Any]:
    """PyTorch's result dtype of ``(dtype, rank)`` pairs: rank 2 has dimensions, 1 is a 0-d tensor, 0 a number.

    A lower rank counts only when its category is higher than that of everything of higher rank.
    """
    by_rank: list[np.dtype[Any] | None] = [None, None, None]
    for dtype, rank in operands:
        seen = by_rank[rank]
        by_rank[rank] = dtype if seen is None else promote_types(seen, dtype)
    result = _combine(by_rank[2], _combine(by_rank[1], by_rank[0]))
    assert result is not None, "result_type needs an operand"
    return result


def _combine(higher: np.dtype[Any] | None, lower: np.dtype[Any] | None) -> np.dtype[Any] | None:
    """``higher`` unless ``lower`` is of a higher category (``combine_categories`` of PyTorch)."""
    if higher is None or lower is None:
        return lower if higher is None else higher
    if category(lower) <= category(higher):
        return higher
    if category(higher) == 2:
        return np.promote_types(higher, complex64)
    return promote_types(higher, lower)
