"""Python numbers on their way into a tensor of some dtype: which fit, which wrap around, which PyTorch refuses.

There are three ways. A tensor made from data takes what the dtype can hold (:func:`check_data`). A number that is written into
a tensor or beside which one is limited must fit too, but a negative one wraps around in unsigned dtypes (:func:`written`). A
number beside a tensor in arithmetic or a comparison wraps around always (:func:`wrapped`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .dtype import cpp_type
from .errors import raise_if

__all__ = ["check_data", "check_fits", "too_big", "wrapped", "written"]

_INT64 = range(-(2**63), 2**63)
_TAKEN = range(-(2**63), 2**64)
"""Integers that a function of PyTorch takes for a number; those beyond 64 bits with a sign have a type that holds them."""
_SIGNED = {"unsigned char": "uint8_t", "signed char": "int8_t", "short int": "int16_t", "long int": "int64_t"}


def too_big(value: Any) -> Exception | None:
    """Why ``value`` is no number of PyTorch's: its integers have 64 bits."""
    if isinstance(value, int) and value not in _INT64:
        return OverflowError("int too big to convert")
    return None


def wrapped(value: Any, dtype: np.dtype[Any]) -> Any:
    """An integer ``value`` as the one of ``dtype`` that has its last bits; everything else as it is."""
    if not isinstance(value, int) or dtype.kind not in "iu":
        return value
    raise_if(too_big(value))
    bits = 8 * dtype.itemsize
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if dtype.kind == "i" and low >> (bits - 1) else low


def written(value: Any, dtype: np.dtype[Any], half: bool = True) -> Any:
    """A number as one of ``dtype``; :class:`RuntimeError` when it does not fit. Negative ones wrap around where unsigned.

    ``half``: what is too large for half precision does not fit; otherwise it is infinite there, as for PyTorch where it assigns or
    fills one element.
    """
    raise_if(check_fits(value, dtype, half))
    if dtype.kind == "b":
        return bool(value)
    if isinstance(value, complex) and dtype.kind != "c":
        value = value.real
    if dtype.char == "e" and not -65504 <= value.real <= 65504:
        with np.errstate(over="ignore"):
            return float(np.float16(value))
    return wrapped(int(value), dtype) if dtype.kind in "iu" else value


def check_fits(value: Any, dtype: np.dtype[Any], half: bool = True) -> Exception | None:
    """Why the number ``value`` cannot be written into a tensor of ``dtype``; ``half`` as in :func:`written`."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and value not in _TAKEN:
        return too_big(value)
    if dtype.kind == "b" or not isinstance(value, int | float | complex):
        return None
    if isinstance(value, complex):
        if dtype.kind == "c":
            return None
        fits, value = not value.imag, value.real
    else:
        fits = True
    if fits and ((dtype == np.float16 and not half) or _holds(dtype, value, wraps=True)):
        return None
    name = cpp_type(dtype)
    return _overflow(_SIGNED.get(name, name) if fits or dtype != np.float16 else "double")


def _overflow(name: str) -> Exception:
    return RuntimeError(f"value cannot be converted to type {name} without overflow")


def _holds(dtype: np.dtype[Any], value: float, wraps: bool) -> bool:
    """Whether ``dtype`` can hold ``value`` (a floating dtype with rounding).

    ``wraps``: if unsigned, or the absolute value of an integer.
    """
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if not math.isfinite(value):
            return False
        wraps = wraps and dtype.kind == "u" and isinstance(value, int)
        return int(info.min) <= value <= int(info.max) or (wraps and -info.max <= value < 0)
    if not math.isfinite(value):
        return True
    return abs(value) <= float(np.finfo(dtype).max)


def check_data(array: Any, dtype: np.dtype[Any]) -> None:
    """Refuse to make a tensor of ``dtype`` of the numbers in ``array`` where PyTorch does: integers that do not fit, complex."""
    kind = array.dtype.kind
    if kind == "c" and dtype.kind == "f":
        raise TypeError("must be real number, not complex")
    if kind == "c" and dtype.kind in "iu":
        raise TypeError("'complex' object cannot be interpreted as an integer")
    if dtype.kind not in "iu" or kind == "b" or not array.size:
        return
    for value in (array.min(), array.max()):  # both NaN, where there is one
        if kind in "iuO" and int(value) not in _INT64:
            raise ValueError("Overflow when unpacking long long")
        if not _holds(dtype, value if kind == "O" else value.item(), wraps=True):
            raise _overflow(dtype.name)
