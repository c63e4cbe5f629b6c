"""Lazy modules: they take the number of their input's features from the first input."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..creation import zeros
from ..grad_mode import no_grad
from ..tensor import Tensor
from . import convolution, layers, normalization
from .module import Module
from .uninitialized import UninitializedBuffer, UninitializedParameter, is_lazy

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d",
    "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear",
]  # fmt: skip

Size = convolution.Size


class LazyModuleMixin(Module):
    """For modules that :meth:`initialize_parameters` by their first input; then they become objects of ``cls_to_become``."""

    cls_to_become: ClassVar[type[Module] | None] = None
    _load_hook: Any
    _initialize_hook: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give all parameters and buffers the sizes that the input asks for."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether something has no size yet."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        for name in ("_initialize_hook", "_load_hook"):
            getattr(module, name).remove()
            delattr(module, name)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, t in self._persistent().items():
            destination[prefix + name] = t if keep_vars or is_lazy(t) else t.detach()

    def _lazy_load_hook(self, state_dict: Any, prefix: str, *_: Any) -> None:
        """Give what has no size that of what is loaded."""
        for name, t in (*self._parameters.items(), *self._buffers.items()):
            given = state_dict.get(prefix + name)
            if t is not None and is_lazy(t) and given is not None and not is_lazy(given):
                with no_grad():
                    t.materialize(given.shape)


class LazyLinear(LazyModuleMixin, layers.Linear):
    """:class:`Linear` with ``in_features`` from the last dimension of its first input."""

    cls_to_become = layers.Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, once they have a size."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take ``in_features`` from ``input``."""
        features = input.shape[-1]
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = features
                _materialize(self.weight, (self.out_features, features))
                _materialize(self.bias, (self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:
            if features != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {features} is not equal to in_features from self.weight: "
                    f"{self.weight.shape[-1]}"
                )
            self.in_features = features


def _materialize(t: Any, shape: tuple[int, ...]) -> None:
    if t is not None:
        t.materialize(shape)


# ----- convolutions -----


class _LazyConvolution(LazyModuleMixin, convolution._Convolution):
    def reset_parameters(self) -> None:
        """Draw weight and bias anew, once they have a size."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def _unsized(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Take ``in_channels`` from ``input``."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = channels = self._channels_of(input)
        if channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        ends = (
            (channels, self.out_channels // self.groups)
            if self.transposed
            else (self.out_channels, channels // self.groups)
        )
        _materialize(self.weight, (*ends, *self.kernel_size))
        _materialize(self.bias, (self.out_channels,))
        self.reset_parameters()

    def _channels_of(self, input: Tensor) -> int:
        single = self.dims + 1
        if input.ndim not in (single, single + 1):
            raise RuntimeError(
                f"Expected {single}D (unbatched) or {single + 1}D (batched) input to {type(self).__name__}, but got input of size: "
                f"torch.Size({list(input.shape)})"
            )
        return input.shape[input.ndim - single]


class _LazyConv(_LazyConvolution, convolution._Conv):
    def __init__(
        self, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size | str = 0, dilation: Size = 1,
        groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._unsized(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvolution, convolution._ConvTranspose):
    def __init__(
        self, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size = 0, output_padding: Size = 0,
        groups: int = 1, bias: bool = True, dilation: Size = 1, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode, device, dtype
        )
        self._unsized(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, convolution.Conv1d):
    """:class:`Conv1d` with ``in_channels`` from its first input."""

    cls_to_become = convolution.Conv1d


class LazyConv2d(_LazyConv, convolution.Conv2d):
    """:class:`Conv2d` with ``in_channels`` from its first input."""

    cls_to_become = convolution.Conv2d


class LazyConv3d(_LazyConv, convolution.Conv3d):
    """:class:`Conv3d` with ``in_channels`` from its first input."""

    cls_to_become = convolution.Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, convolution.ConvTranspose1d):
    """:class:`ConvTranspose1d` with ``in_channels`` from its first input."""

    cls_to_become = convolution.ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, convolution.ConvTranspose2d):
    """:class:`ConvTranspose2d` with ``in_channels`` from its first input."""

    cls_to_become = convolution.ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, convolution.ConvTranspose3d):
    """:class:`ConvTranspose3d` with ``in_channels`` from its first input."""

    cls_to_become = convolution.ConvTranspose3d


# ----- normalisation -----


class _LazyNorm(LazyModuleMixin, normalization._Tracking):
    def __init__(
        self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True, track_running_stats: bool = True,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = zeros((), dtype=np.dtype(np.int64), device=device)

    def reset_parameters(self) -> None:
        """Forget the running statistics, set the weight to ones and the bias to zeros, once they have a size."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take ``num_features`` from ``input``."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for t in (*self._parameters.values(), self.running_mean, self.running_var):
                _materialize(t, (self.num_features,))
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, normalization.BatchNorm1d):
    """:class:`BatchNorm1d` with ``num_features`` from its first input."""

    cls_to_become = normalization.BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, normalization.BatchNorm2d):
    """:class:`BatchNorm2d` with ``num_features`` from its first input."""

    cls_to_become = normalization.BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, normalization.BatchNorm3d):
    """:class:`BatchNorm3d` with ``num_features`` from its first input."""

    cls_to_become = normalization.BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, normalization.InstanceNorm1d):
    """:class:`InstanceNorm1d` with ``num_features`` from its first input."""

    cls_to_become = normalization.InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, normalization.InstanceNorm2d):
    """:class:`InstanceNorm2d` with ``num_features`` from its first input."""

    cls_to_become = normalization.InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, normalization.InstanceNorm3d):
    """:class:`InstanceNorm3d` with ``num_features`` from its first input."""

    cls_to_become = normalization.InstanceNorm3d
