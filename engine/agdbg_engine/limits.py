"""What numbers a dtype can hold: ``finfo`` and ``iinfo``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .dtype import get_default_dtype


@dataclass(frozen=True, init=False)
class finfo:
    """The limits of a floating dtype, of the default one if none is given; those of the parts of a complex one."""

    resolution: float
    min: float
    max: float
    eps: float
    smallest_normal: float
    tiny: float
    bits: int = field(repr=False)
    dtype: str

    def __init__(self, type: Any = None) -> None:
        kind = np.dtype(type or get_default_dtype())
        if kind.kind not in "fc":
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        found = np.finfo(kind)
        for name in ("resolution", "min", "max", "eps", "smallest_normal", "tiny"):
            object.__setattr__(self, name, float(getattr(found, name)))
        object.__setattr__(self, "resolution", float(f"1e-{found.precision}"))
        object.__setattr__(self, "bits", found.bits)
        object.__setattr__(self, "dtype", found.dtype.name)

    def __repr__(self) -> str:
        shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):.6g}' for name in shown)}, dtype={self.dtype})"


@dataclass(frozen=True, init=False)
class iinfo:
    """The limits of a dtype of integers."""

    min: int
    max: int
    bits: int = field(repr=False)
    dtype: str

    def __init__(self, type: Any) -> None:
        kind = np.dtype(type)
        if kind.kind == "b":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if kind.kind not in "iu":
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        found = np.iinfo(kind)
        for name, value in (("min", found.min), ("max", found.max), ("bits", found.bits), ("dtype", kind.name)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:.6g}, max={self.max:.6g}, dtype={self.dtype})"
