"""Dropout: of elements, of whole channels, and those that keep mean and variance of selu."""

from __future__ import annotations

import math
import warnings

import numpy as np

from ....dtype import get_default_dtype
from ....random import generator
from ....several import at_home
from ....sites import user_stacklevel
from ....tensor import Tensor, wrap
from ...explain import shape_error
from ...kernel_names import no_kernel, not_written
from ...kernels import zeros_of
from ..declare import public

ALPHA = 1.7580993408473766
"""What selu tends to for very negative numbers, negated."""


def _checked(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@at_home
def _kept(x: Tensor, p: float, channels: bool) -> Tensor:
    """1 with probability ``1 - p`` and else 0, by element or by channel."""
    if channels and x.ndim < 2:
        raise shape_error("Feature dropout requires at least 2 dimensions in the input")
    shape = (*x.shape[:2], *(1,) * (x.ndim - 2)) if channels else tuple(x.shape)
    return wrap((generator(None, x._a).random(shape) >= p).astype(x.dtype))


def _divisible(x: Tensor, alpha: bool) -> None:
    """Refuse the dtypes in which the noise cannot be drawn, or not scaled in place."""
    kind = x.dtype
    if kind.kind == "c":
        raise no_kernel("bernoulli_scalar_cpu_", kind)
    if kind.kind in "biu":
        raise not_written(get_default_dtype(), np.dtype(np.int64) if alpha and kind.kind == "b" else kind)


def _applied(x: Tensor, p: float, train: bool, inplace: bool, channels: bool = False, alpha: bool = False) -> Tensor:
    if not x._a.size or p == 0 or not train:  # what is no tensor has no _a
        return x
    if p == 1:
        nothing = wrap(zeros_of((), x._a))
        return x.mul_(nothing) if inplace else x * nothing
    _divisible(x, alpha)
    noise = _kept(x, p, channels)
    if not alpha:
        noise = noise / (1 - p)
        return x.mul_(noise) if inplace else x * noise
    a = 1 / math.sqrt((ALPHA * ALPHA * p + 1) * (1 - p))
    shift = (noise - 1) * (ALPHA * a) + ALPHA * a * p
    return x.mul_(noise * a).add_(shift) if inplace else x * (noise * a) + shift


@public("nn.functional")
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements zeroed with probability ``p``, the others scaled by 1 / (1 - p)."""
    _checked(p)
    return _applied(input, p, training, inplace)


@public("nn.functional")
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """:func:`dropout` to the negative limit of selu, then scaled and shifted to mean 0 and variance 1."""
    _checked(p)
    return _applied(input, p, training, inplace, alpha=True)


@public("nn.functional")
def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """:func:`alpha_dropout` of whole channels of (N, C, ...)."""
    _checked(p)
    return _applied(input, p, training, inplace, channels=True, alpha=True)


@public("nn.functional")
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, L) or (C, L) zeroed with probability ``p``, the others scaled by 1 / (1 - p)."""
    _checked(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension (i.e. "
            "2D or 3D inputs)."
        )
    return _of_channels(input, p, training, inplace, input._a.ndim == 3)


@public("nn.functional")
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, H, W) zeroed with probability ``p``, the others scaled by 1 / (1 - p)."""
    _checked(p)
    _warn_of_shape("dropout2d", input, (3, 4), 2)
    if input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input is "
            "interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future release to "
            "interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout "
            "behavior, please switch to using dropout1d instead.",
            stacklevel=user_stacklevel(),
        )
    return _applied(input, p, training, inplace, channels=True)


@public("nn.functional")
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) zeroed with probability ``p``, the others scaled by 1 / (1 - p)."""
    _checked(p)
    _warn_of_shape("dropout3d", input, (4, 5), 3)
    return _of_channels(input, p, training, inplace, input._a.ndim == 5)


def _of_channels(x: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Tensor:
    """Dropout of channels; without a batch dimension one is added and taken away again."""
    if batched:
        return _applied(x, p, training, inplace, channels=True)
    wide = x.unsqueeze_(0) if inplace and hasattr(x, "unsqueeze_") else x.unsqueeze(0)
    out = _applied(wide, p, training, inplace, channels=True)
    return out.squeeze_(0) if inplace and hasattr(out, "squeeze_") else out.squeeze(0)


def _warn_of_shape(name: str, x: Tensor, known: tuple[int, ...], spatial: int) -> None:
    if x.ndim in known:
        return
    warnings.warn(
        f"{name}: Received a {x.ndim}-D input to {name}, which is deprecated and will result in an error in a future release. To "
        f"retain the behavior and silence this warning, please use dropout instead. Note that {name} exists to provide "
        f"channel-wise dropout on inputs with {spatial} spatial dimensions, a channel dimension, and an optional batch dimension "
        f"(i.e. {spatial + 1}D or {spatial + 2}D inputs).",
        stacklevel=user_stacklevel(),
    )


# ----- the forms of the top level -----


def _top(name: str, channels: bool, alpha: bool, inplace: bool) -> None:
    def function(input: Tensor, p: float, train: bool) -> Tensor:
        if not 0 <= p <= 1:
            raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
        return _applied(input, p, train, inplace, channels, alpha)

    function.__name__ = function.__qualname__ = name
    kind = f"{'alpha ' if alpha else ''}dropout{' of whole channels' if channels else ''}"
    function.__doc__ = f"{kind.capitalize()} when ``train``{', written into ``input``' if inplace else ''}."
    public("torch")(function)


for _name, _channels, _alpha in (
    ("dropout", False, False),
    ("feature_dropout", True, False),
    ("alpha_dropout", False, True),
    ("feature_alpha_dropout", True, True),
):
    _top(_name, _channels, _alpha, False)
    _top(_name + "_", _channels, _alpha, True)
