"""Modules of padding."""

from __future__ import annotations

from typing import Any, ClassVar

from ..tensor import Tensor
from . import functional as F
from .convolution import Size, each
from .module import Module

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
    "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip


class _Pad(Module):
    """(before, after) of the last dimension, then of the one before it and so on, filled as ``mode`` says."""

    dims: ClassVar[int]
    mode: ClassVar[str]
    refuses: ClassVar[bool] = False
    """Whether the module itself looks at how many dimensions the input has."""

    def __init__(self, padding: Size) -> None:
        super().__init__()
        self.padding = each(padding, 2 * self.dims)

    def forward(self, input: Tensor) -> Tensor:
        k = self.dims
        if self.refuses and input.ndim not in (k + 1, k + 2):
            raise ValueError(f"expected {k + 1}D or {k + 2}D input (got {input.ndim}D input)")
        result: Tensor = F.pad(input, self.padding, self.mode)
        return result

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ConstantPad1d(_Pad):
    """A constant around the last dimension."""

    dims, mode = 1, "constant"

    def __init__(self, padding: Size, value: Any) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        result: Tensor = F.pad(input, self.padding, "constant", self.value)
        return result

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad2d(ConstantPad1d):
    """A constant around the last two dimensions."""

    dims = 2


class ConstantPad3d(ConstantPad1d):
    """A constant around the last three dimensions."""

    dims = 3


class ZeroPad1d(ConstantPad1d):
    """Zeros around the last dimension."""

    def __init__(self, padding: Size) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ZeroPad1d):
    """Zeros around the last two dimensions."""

    dims = 2


class ZeroPad3d(ZeroPad1d):
    """Zeros around the last three dimensions."""

    dims = 3


class ReflectionPad1d(_Pad):
    """The input reflected at both ends of the last dimension."""

    dims, mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """The input reflected at the ends of the last two dimensions."""

    dims, mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """The input reflected at the ends of the last three dimensions."""

    dims, mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """The ends of the last dimension repeated."""

    dims, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """The ends of the last two dimensions repeated."""

    dims, mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """The ends of the last three dimensions repeated."""

    dims, mode = 3, "replicate"


class CircularPad1d(_Pad):
    """The last dimension continued as a circle."""

    dims, mode, refuses = 1, "circular", True


class CircularPad2d(_Pad):
    """The last two dimensions continued as circles."""

    dims, mode, refuses = 2, "circular", True


class CircularPad3d(_Pad):
    """The last three dimensions continued as circles."""

    dims, mode, refuses = 3, "circular", True
