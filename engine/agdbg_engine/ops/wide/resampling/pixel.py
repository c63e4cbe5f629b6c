"""Rearrangements of channels: ``pixel_shuffle``, ``pixel_unshuffle``, ``channel_shuffle``."""

from __future__ import annotations

from typing import Any

from ....tensor import Tensor
from ... import graph
from ...explain import shape_error
from ..declare import linear, public


def _shuffled(self: Any, r: int) -> Any:
    *lead, c, h, w = self.shape
    n = len(lead)
    parts = self.reshape(*lead, c // (r * r), r, r, h, w)
    return parts.transpose(*range(n + 1), n + 3, n + 1, n + 4, n + 2).reshape(*lead, c // (r * r), h * r, w * r)


def _unshuffled(self: Any, r: int) -> Any:
    *lead, c, h, w = self.shape
    n = len(lead)
    parts = self.reshape(*lead, c, h // r, r, w // r, r)
    return parts.transpose(*range(n + 1), n + 2, n + 4, n + 1, n + 3).reshape(*lead, c * r * r, h // r, w // r)


def _channels(self: Any, groups: int) -> Any:
    n, c, *rest = self.shape
    return self.reshape(n, groups, c // groups, *rest).swapaxes(1, 2).reshape(self.shape)


linear(
    "pixel_shuffle_raw(self, upscale_factor)",
    "PixelShuffleBackward0",
    "pixel_unshuffle_raw(g, upscale_factor)",
    value=_shuffled,
)
linear(
    "pixel_unshuffle_raw(self, downscale_factor)", "PixelUnshuffleBackward0", "pixel_shuffle_raw(g, downscale_factor)",
    value=_unshuffled,
)  # fmt: skip
linear(
    "channel_shuffle_raw(self, groups)", "ChannelShuffleBackward0", "channel_shuffle_raw(g, self_shape[1] // groups)",
    value=_channels,
)  # fmt: skip


@public("torch nn.functional")
def pixel_shuffle(self: Tensor, upscale_factor: int) -> Tensor:
    """(..., C * r * r, H, W) as (..., C, H * r, W * r)."""
    _check("pixel_shuffle", self, "upscale_factor", upscale_factor)
    c = self.shape[-3]
    if c % upscale_factor**2:
        raise shape_error(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={c} is not divisible by {upscale_factor**2}"
        )
    return graph.pixel_shuffle_raw(self, upscale_factor)  # type: ignore[attr-defined]  # a row


@public("torch nn.functional")
def pixel_unshuffle(self: Tensor, downscale_factor: int) -> Tensor:
    """(..., C, H * r, W * r) as (..., C * r * r, H, W)."""
    _check("pixel_unshuffle", self, "downscale_factor", downscale_factor)
    for name, axis in (("height", -2), ("width", -1)):
        if self.shape[axis] % downscale_factor:
            raise shape_error(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({axis})={self.shape[axis]} "
                f"is not divisible by {downscale_factor}"
            )
    return graph.pixel_unshuffle_raw(self, downscale_factor)  # type: ignore[attr-defined]  # a row


def _check(op: str, x: Tensor, name: str, factor: int) -> None:
    if x.ndim < 3:
        raise shape_error(f"{op} expects input to have at least 3 dimensions, but got input with {x.ndim} dimension(s)")
    if factor <= 0:
        raise shape_error(f"{op} expects a positive {name}, but got {factor}")


@public("torch nn.functional")
def channel_shuffle(self: Tensor, groups: int) -> Tensor:
    """Channels of (N, C, ...) in ``groups`` interleaved."""
    if self.ndim <= 2:
        raise shape_error(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(self.shape)}")
    if groups <= 0:
        raise shape_error(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if self.shape[1] % groups:
        raise shape_error(
            f"Number of channels must be divisible by groups. Got {self.shape[1]} channels and {groups} groups."
        )
    return graph.channel_shuffle_raw(self, groups)  # type: ignore[attr-defined]  # a row
