"""Modules of pooling."""

from __future__ import annotations

from typing import Any, ClassVar

from ..tensor import Tensor
from . import functional as F
from .convolution import Size, each
from .module import Module

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d",
    "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d",
    "MaxUnpool3d",
]  # fmt: skip


class _Pool(Module):
    """A pooling function over the last ``dims`` dimensions and its arguments; the repr shows some of them."""

    dims: ClassVar[int]
    shown: ClassVar[str]

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)}" for name in self.shown.split())


class _MaxPool(_Pool):
    shown = "kernel_size stride padding dilation ceil_mode"

    def __init__(
        self, kernel_size: Size, stride: Any = None, padding: Size = 0, dilation: Size = 1, return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride = kernel_size, stride if stride is not None else kernel_size
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        return getattr(F, f"max_pool{self.dims}d")(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )


class MaxPool1d(_MaxPool):
    """Maxima over windows of (N, C, L)."""

    dims = 1


class MaxPool2d(_MaxPool):
    """Maxima over windows of (N, C, H, W)."""

    dims = 2


class MaxPool3d(_MaxPool):
    """Maxima over windows of (N, C, D, H, W)."""

    dims = 3


class _MaxUnpool(_Pool):
    shown = "kernel_size stride padding"

    def __init__(self, kernel_size: Size, stride: Any = None, padding: Size = 0) -> None:
        super().__init__()
        self.kernel_size = each(kernel_size, self.dims)
        self.stride = each(stride if stride is not None else kernel_size, self.dims)
        self.padding = each(padding, self.dims)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Any:
        function = getattr(F, f"max_unpool{self.dims}d")
        return function(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpool):
    """The maxima of :class:`MaxPool1d` put back among zeros."""

    dims = 1


class MaxUnpool2d(_MaxUnpool):
    """The maxima of :class:`MaxPool2d` put back among zeros."""

    dims = 2


class MaxUnpool3d(_MaxUnpool):
    """The maxima of :class:`MaxPool3d` put back among zeros."""

    dims = 3


# ----- means and norms -----


class AvgPool1d(_Pool):
    """Means over windows of (N, C, L)."""

    dims = 1
    shown = "kernel_size stride padding"

    def __init__(
        self,
        kernel_size: Size,
        stride: Any = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size, self.padding = each(kernel_size, 1), each(padding, 1)
        self.stride = each(stride if stride is not None else kernel_size, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Any:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPool(_Pool):
    shown = "kernel_size stride padding"

    def __init__(
        self, kernel_size: Size, stride: Any = None, padding: Size = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size, self.stride = kernel_size, stride if stride is not None else kernel_size
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Any:
        return getattr(F, f"avg_pool{self.dims}d")(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool2d(_AvgPool):
    """Means over windows of (N, C, H, W)."""

    dims = 2


class AvgPool3d(_AvgPool):
    """Means over windows of (N, C, D, H, W)."""

    dims = 3


class _LPPool(_Pool):
    shown = "norm_type kernel_size stride ceil_mode"

    def __init__(self, norm_type: float, kernel_size: Size, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input: Tensor) -> Any:
        function = getattr(F, f"lp_pool{self.dims}d")
        return function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPool):
    """Norms of windows of (N, C, L)."""

    dims = 1


class LPPool2d(_LPPool):
    """Norms of windows of (N, C, H, W)."""

    dims = 2


class LPPool3d(_LPPool):
    """Norms of windows of (N, C, D, H, W)."""

    dims = 3


# ----- to a given size -----


class _AdaptiveAvgPool(_Pool):
    shown = "output_size"

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Any:
        return getattr(F, f"adaptive_avg_pool{self.dims}d")(input, self.output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Means over windows that cover (N, C, L) evenly."""

    dims = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Means over windows that cover (N, C, H, W) evenly."""

    dims = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """Means over windows that cover (N, C, D, H, W) evenly."""

    dims = 3


class _AdaptiveMaxPool(_Pool):
    shown = "output_size"

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Tensor) -> Any:
        return getattr(F, f"adaptive_max_pool{self.dims}d")(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """Maxima over windows that cover (N, C, L) evenly."""

    dims = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """Maxima over windows that cover (N, C, H, W) evenly."""

    dims = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """Maxima over windows that cover (N, C, D, H, W) evenly."""

    dims = 3


class _FractionalMaxPool(_Pool):
    shown = ""

    def __init__(
        self, kernel_size: Size, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        n, name = self.dims, type(self).__name__
        sizes = (kernel_size,) if isinstance(kernel_size, int) else kernel_size
        if n == 3 and isinstance(sizes, tuple | list) and not all(k > 0 for k in sizes):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.kernel_size, self.return_indices = each(kernel_size, n), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else each(output_size, n)
        self.output_ratio = None if output_ratio is None else each(output_ratio, n)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        return getattr(F, f"fractional_max_pool{self.dims}d")(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """Maxima over windows of (N, C, H, W) at random distances."""

    dims = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """Maxima over windows of (N, C, D, H, W) at random distances."""

    dims = 3
