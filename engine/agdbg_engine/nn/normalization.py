"""Modules of normalisation."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np

from ..creation import ones, zeros
from ..sites import user_stacklevel
from ..tensor import Parameter, Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import check_size, drawn, written

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm",
    "LocalResponseNorm", "RMSNorm", "SyncBatchNorm",
]  # fmt: skip

Sizes = int | list[int] | tuple[int, ...]


def _affine(module: Module, shape: tuple[int, ...], weight: bool, bias: bool, device: Any, dtype: Any) -> None:
    """Give ``module`` a weight of ones and a bias of zeros, those that it wants."""
    if weight:
        check_size(shape[0] if len(shape) == 1 and not isinstance(module, LayerNorm) else shape)
    for name, wanted, make in (("weight", weight, ones), ("bias", bias, zeros)):
        module.register_parameter(name, drawn(make(shape, dtype=dtype, device=device)) if wanted else None)


class _Normalising(Module):
    weight: Parameter | None
    bias: Parameter | None

    def reset_parameters(self) -> None:
        """Set the weight to ones and the bias to zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if getattr(self, "bias", None) is not None:
            init.zeros_(self.bias)  # type: ignore[arg-type]  # checked above


# ----- over the last dimensions -----


class LayerNorm(_Normalising):
    """:func:`layer_norm` over the last dimensions, of sizes ``normalized_shape``."""

    def __init__(
        self, normalized_shape: Sizes, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.normalized_shape = (
            (normalized_shape,) if isinstance(normalized_shape, int | np.integer) else tuple(normalized_shape)
        )
        self.eps, self.elementwise_affine = eps, elementwise_affine
        _affine(self, self.normalized_shape, elementwise_affine, elementwise_affine and bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        shown = f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        return f"{shown}, bias={self.bias is not None}"


class RMSNorm(_Normalising):
    """:func:`rms_norm` over the last dimensions, of sizes ``normalized_shape``."""

    def __init__(
        self, normalized_shape: Sizes, eps: float | None = None, elementwise_affine: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.normalized_shape = (
            (normalized_shape,) if isinstance(normalized_shape, int | np.integer) else tuple(normalized_shape)
        )
        self.eps, self.elementwise_affine = eps, elementwise_affine
        if elementwise_affine:
            check_size(self.normalized_shape)
        made = drawn(ones(self.normalized_shape, dtype=dtype, device=device)) if elementwise_affine else None
        self.register_parameter("weight", made)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_Normalising):
    """:func:`group_norm` of (N, C, ...)."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        _affine(self, (num_channels,), affine, affine and bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        shown = f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"
        return f"{shown}, bias={self.bias is not None}"


class LocalResponseNorm(Module):
    """:func:`local_response_norm` of (N, C, ...)."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


# ----- by channel -----


class _Tracking(_Normalising):
    """Normalisation by channel that may keep running statistics."""

    _version = 2
    ranks: ClassVar[tuple[int, ...]]
    """Numbers of dimensions of the input."""
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        _affine(self, (num_features,), affine, affine and bias, device, dtype)
        made: tuple[Tensor | None, ...] = (None, None, None)
        if track_running_stats:
            shape = (num_features,)
            count = zeros((), dtype=np.dtype(np.int64), device=device)
            made = (zeros(shape, dtype=dtype, device=device), ones(shape, dtype=dtype, device=device), count)
        for name, buffer in zip(("running_mean", "running_var", "num_batches_tracked"), made, strict=True):
            self.register_buffer(name, None if buffer is None else written(buffer))

    def reset_running_stats(self) -> None:
        """Forget the running statistics."""
        if self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget the running statistics, set the weight to ones and the bias to zeros."""
        self.reset_running_stats()
        super().reset_parameters()

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        """Load what is there; states of the first version have no number of batches."""
        if (local_metadata.get("version") or 1) < 2 and self.num_batches_tracked is not None:
            state_dict.setdefault(f"{prefix}num_batches_tracked", self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def _check_rank(self, x: Tensor) -> None:
        if x.ndim not in self.ranks:
            expected = " or ".join(f"{r}D" for r in self.ranks)
            raise ValueError(f"expected {expected} input (got {x.ndim}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_Tracking):
    def forward(self, input: Tensor) -> Tensor:
        self._check_rank(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean of all batches
                factor = 1.0 / _read(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        kept = not self.training or self.track_running_stats
        mean, var = (self.running_mean, self.running_var) if kept else (None, None)
        return F.batch_norm(input, mean, var, self.weight, self.bias, by_batch, factor, self.eps)


def _read(batches: Tensor) -> float:
    """How many there have been: a device is waited for, as in PyTorch."""
    return float(batches)


class BatchNorm1d(_BatchNorm):
    """:func:`batch_norm` of (N, C) or (N, C, L)."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """:func:`batch_norm` of (N, C, H, W)."""

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """:func:`batch_norm` of (N, C, D, H, W)."""

    ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """:func:`batch_norm` of (N, C, ...): its statistics are those of all processes, of which there is one here."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, process_group: Any = None, device: Any = None, dtype: Any = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_rank(self, x: Tensor) -> None:
        if x.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {x.ndim}D input)")
        if x.shape[1] == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """``module`` with every batch norm replaced by one of these, on the same parameters and statistics."""
        out = module
        if isinstance(module, _BatchNorm):
            out = made = SyncBatchNorm(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats, process_group,
                bias=module.bias is not None,
            )  # fmt: skip
            if module.affine:
                made.weight, made.bias = module.weight, module.bias
            for name in ("running_mean", "running_var", "num_batches_tracked", "training"):
                setattr(made, name, getattr(module, name))
        for name, child in module.named_children():
            out.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return out


class _InstanceNorm(_Tracking):
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_rank(input)
        single = input.ndim == self.ranks[0]
        dim = 0 if single else 1
        if input.shape[dim] != self.num_features:
            self._wrong_channels(dim, input.shape[dim])
        x = input.unsqueeze(0) if single else input
        by_input = self.training or not self.track_running_stats
        factor = 0.0 if self.momentum is None else self.momentum
        out: Tensor = F.instance_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, by_input, factor, self.eps
        )
        return out.squeeze(0) if single else out

    def _wrong_channels(self, dim: int, size: int) -> None:
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: {size}."
            )
        warnings.warn(
            f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing in num_features, "
            "which is not used because affine=False",
            stacklevel=user_stacklevel(),
        )


class InstanceNorm1d(_InstanceNorm):
    """:func:`instance_norm` of (N, C, L) or (C, L)."""

    ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """:func:`instance_norm` of (N, C, H, W) or (C, H, W)."""

    ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """:func:`instance_norm` of (N, C, D, H, W) or (C, D, H, W)."""

    ranks = (4, 5)
