"""Devices and the array module behind a buffer: NumPy on the CPU, CuPy on the GPU.

Ops never name an array library. NumPy's own dispatch (``__array_ufunc__``, ``__array_function__``) carries
ufuncs to the library of their inputs; where an array is made from nothing, :func:`array_module` says by whom.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


class device:
    """A device as ``type`` and ``index``, comparable with its string: ``device("cpu") == "cpu"``."""

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, spec: str | int | device, index: int | None = None) -> None:
        if isinstance(spec, device):
            index = spec.index if index is None else index
            spec = spec.type
        if not isinstance(spec, str):
            raise _no_device(spec)
        kind, _, number = spec.partition(":")
        if kind not in ("cpu", "cuda"):
            raise RuntimeError(f"Expected one of cpu, cuda device type at start of device string: {spec}")
        if number and not number.isdigit():
            raise RuntimeError(f"Invalid device string: '{spec}'")
        self.type = kind
        self.index = int(number) if number else index

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            other = device(other)
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        tail = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{tail})"


def _no_device(spec: Any) -> Exception:
    if isinstance(spec, int) and not isinstance(spec, bool):
        return RuntimeError("Cannot access accelerator device when none is available.")
    return TypeError(
        f"device() received an invalid combination of arguments - got ({type(spec).__name__}), but expected one of:"
    )


CPU = device("cpu")


def array_module(array: Any) -> Any:
    """The module that made ``array``: ``numpy``, or the one its type was defined in (``cupy``)."""
    if isinstance(array, (np.ndarray, np.generic)):
        return np
    return sys.modules[type(array).__module__.partition(".")[0]]


def device_of(array: Any) -> device:
    """The device that holds ``array``."""
    if isinstance(array, (np.ndarray, np.generic)):
        return CPU
    return device("cuda", array.device.id)
