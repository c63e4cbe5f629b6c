"""Modules of convolutions."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..creation import empty
from ..tensor import Parameter, Tensor
from . import functional as F
from . import init
from .module import Module

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
]  # fmt: skip

Size = int | tuple[int, ...] | list[int]
_MODES = ("zeros", "reflect", "replicate", "circular")


def each(value: Any, n: int) -> Any:
    """``value`` for every one of ``n`` dimensions; sequences and names as they are."""
    return tuple(value) if isinstance(value, list | tuple) else value if isinstance(value, str) else (value,) * n


class _Convolution(Module):
    """Weight and bias, uniform in +-1/sqrt(fan in) at first, and how the windows lie."""

    dims: ClassVar[int]
    transposed: ClassVar[bool] = False

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Size, stride: Size, padding: Size | str, dilation: Size,
        output_padding: Size, groups: int, bias: bool, padding_mode: str, device: Any, dtype: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        n = self.dims
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.padding = each(kernel_size, n), each(stride, n), each(padding, n)
        self.dilation, self.output_padding = each(dilation, n), each(output_padding, n)
        self.padding_mode = padding_mode
        self._check()
        made = (in_channels, out_channels // groups) if self.transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(empty(*made, *self.kernel_size, dtype=dtype, device=device))
        if bias:
            self.bias: Parameter | None = Parameter(empty(out_channels, dtype=dtype, device=device))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _check(self) -> None:
        if self.groups <= 0:
            raise ValueError("groups must be a positive integer")
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        if self.out_channels % self.groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {self.padding!r}, should be one of {{'valid', 'same'}}")
            if self.padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if self.padding_mode not in _MODES:
            raise ValueError(f"padding_mode must be one of {set(_MODES)}, but got padding_mode='{self.padding_mode}'")

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = math.prod(self.weight.shape[1:])
            bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        n = self.dims
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        usual = {"padding": (0,) * n, "dilation": (1,) * n, "output_padding": (0,) * n, "groups": 1}
        parts += [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


class _Conv(_Convolution):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size | str = 0,
        dilation: Size = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            0,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        function = getattr(F, f"conv{self.dims}d")
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._around(), self.padding_mode), 0
        result: Tensor = function(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)
        return result

    def _around(self) -> list[int]:
        """The padding as :func:`~.functional.pad` takes it: the last dimension first."""
        if self.padding == "valid":
            return [0] * (2 * self.dims)
        if self.padding == "same":
            totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            return [side for t in reversed(totals) for side in (t // 2, t - t // 2)]
        return [side for p in reversed(self.padding) for side in (p, p)]


class Conv1d(_Conv):
    """Convolution of (N, C, L): weight (out, in / groups, K)."""

    dims = 1


class Conv2d(_Conv):
    """Convolution of (N, C, H, W): weight (out, in / groups, KH, KW)."""

    dims = 2


class Conv3d(_Conv):
    """Convolution of (N, C, D, H, W): weight (out, in / groups, KD, KH, KW)."""

    dims = 3


class _ConvTranspose(_Convolution):
    transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size = 0,
        output_padding: Size = 0, groups: int = 1, bias: bool = True, dilation: Size = 1, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias, padding_mode, device,
            dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        function = getattr(F, f"conv_transpose{self.dims}d")
        extra = self.output_padding if output_size is None else self._extra(input, output_size)
        result: Tensor = function(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )
        return result

    def _extra(self, input: Tensor, output_size: Any) -> tuple[int, ...]:
        """The output padding that gives a result of ``output_size``."""
        n = self.dims
        lead = input.ndim - n
        if len(output_size) == lead + n:
            output_size = output_size[lead:]
        if len(output_size) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.ndim}D input, output_size must have {n} or {lead + n} elements (got "
                f"{len(output_size)})"
            )
        least = [
            (size - 1) * s - 2 * p + d * (k - 1) + 1
            for size, s, p, d, k in zip(
                input.shape[lead:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        most = [size + s - 1 for size, s in zip(least, self.stride, strict=True)]
        if any(not a <= size <= b for size, a, b in zip(output_size, least, most, strict=True)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to {most} (for an input of "
                f"{list(input.shape[lead:])})"
            )
        return tuple(size - a for size, a in zip(output_size, least, strict=True))


class ConvTranspose1d(_ConvTranspose):
    """Transposed convolution of (N, C, L): weight (in, out / groups, K)."""

    dims = 1


class ConvTranspose2d(_ConvTranspose):
    """Transposed convolution of (N, C, H, W): weight (in, out / groups, KH, KW)."""

    dims = 2


class ConvTranspose3d(_ConvTranspose):
    """Transposed convolution of (N, C, D, H, W): weight (in, out / groups, KD, KH, KW)."""

    dims = 3
