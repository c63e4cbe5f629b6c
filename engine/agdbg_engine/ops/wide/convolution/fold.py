"""``nn.functional.unfold`` and ``fold``: sliding blocks of images as columns, and columns added up to images."""

from __future__ import annotations

import math
from typing import Any

from ....tensor import Tensor
from ... import graph
from ...explain import shape_error
from ..declare import kernel, op, public
from .windows import Ints, around, overlapped, padded, steps, windows

Size = int | tuple[int, ...] | list[int]
_HOW = "kernel_size, dilation, padding, stride"


@kernel
def im2col(self: Any, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Any:
    """The windows over (..., C, H, W) as columns (..., C * window, places)."""
    found = windows(padded(self, around(padding)), kernel_size, stride, dilation)
    lead, (c, *places) = found.shape[:-5], found.shape[-5:-2]
    n = len(lead)
    moved = found.transpose(*range(n + 1), n + 3, n + 4, n + 1, n + 2)
    return moved.reshape(*lead, c * math.prod(kernel_size), math.prod(places))


@kernel
def col2im(self: Any, output_size: Ints, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Any:
    """Columns added up to (..., C, *output_size) where :func:`im2col` read them."""
    channels = self.shape[-2] // math.prod(kernel_size)
    blocks = _blocks(output_size, kernel_size, dilation, padding, stride)
    parts = self.reshape(*self.shape[:-2], channels, *kernel_size, *blocks)
    return overlapped(parts, output_size, stride, padding, dilation).copy()


def _blocks(size: Ints, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Ints:
    padded_size = [n + 2 * p for n, p in zip(size, padding, strict=True)]
    return tuple(map(steps, padded_size, kernel_size, stride, dilation))


op(f"im2col(self, {_HOW})", "Im2ColBackward0", self=f"col2im(g, self_shape[-2:], {_HOW})", jvp="linear", kinds="bfc")
op(f"col2im(self, output_size, {_HOW})", "Col2ImBackward0", self=f"im2col(g, {_HOW})", jvp="linear", kinds="bfc")


@public("nn.functional")
def unfold(input: Tensor, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1) -> Tensor:
    """The sliding blocks of (N, C, H, W) or (C, H, W) as columns: (N, C * window, places)."""
    how = _checked(kernel_size, dilation, padding, stride)
    if input.ndim not in (3, 4) or 0 in input.shape[-3:]:
        _refuse_dims(input, "3D or 4D", "with possibly 0 batch size and other non-zero")
    blocks = _blocks(tuple(input.shape[-2:]), *how)
    if min(blocks) < 1:
        k, d, p, _ = how
        raise shape_error(
            f"Given input with spatial size {tuple(input.shape[-2:])}, kernel_size={k}, dilation={d}, padding={p}, calculated "
            f"shape of the array of sliding blocks as {blocks}, but its components must be at least one."
        )
    return graph.im2col(input, *how)  # type: ignore[attr-defined]  # a row


@public("nn.functional")
def fold(
    input: Tensor, output_size: Size, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1
) -> Tensor:
    """Columns (N, C * window, places) added up to images (N, C, *output_size): the transpose of :func:`unfold`."""
    size = _two("output_size", output_size)
    how = _checked(kernel_size, dilation, padding, stride)
    k, d, p, s = how
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        _refuse_dims(input, "2D or 3D", "for input with possibly 0 batch size and non-zero")
    rows, columns = input.shape[-2:]
    if rows % math.prod(k):
        raise shape_error(
            f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)={rows} and "
            f"kernel_size={k}."
        )
    blocks = _blocks(size, *how)
    if columns != math.prod(blocks):
        raise shape_error(
            f"Given output_size={size}, kernel_size={k}, dilation={d}, padding={p}, stride={s}, expected size of input's dimension "
            f"2 to match the calculated number of sliding blocks {blocks[0]} * {blocks[1]} = {math.prod(blocks)}, but got "
            f"input.size(2)={columns}."
        )
    return graph.col2im(input, size, *how)  # type: ignore[attr-defined]  # a row


def _refuse_dims(x: Tensor, dims: str, others: str) -> None:
    if x.ndim < 3 and dims.startswith("3"):
        raise shape_error(
            f"Dimension out of range (expected to be in range of [{-x.ndim}, {x.ndim - 1}], but got {x.ndim})",
            IndexError,
        )
    raise shape_error(f"Expected {dims} (batch mode) tensor {others} dimensions for input, but got: {list(x.shape)}")


def _two(name: str, value: Size) -> Ints:
    given = tuple(value) if isinstance(value, tuple | list) else (value, value)
    if len(given) == 1 and name != "output_size":
        given *= 2
    if len(given) != 2:
        raise shape_error(f"It is expected {name} equals to 2, but got size {len(given)}")
    return tuple(int(v) for v in given)


def _checked(kernel_size: Size, dilation: Size, padding: Size, stride: Size) -> tuple[Ints, Ints, Ints, Ints]:
    k, d = _two("kernel_size", kernel_size), _two("dilation", dilation)
    p, s = _two("padding", padding), _two("stride", stride)
    for text, value, least in (
        ("kernel size should be greater than zero, but got kernel", k, 1),
        ("dilation should be greater than zero, but got dilation", d, 1),
        ("padding should be non-negative, but got pad", p, 0),
        ("stride should be greater than zero, but got stride", s, 1),
    ):
        if min(value) < least:
            what = text.rpartition(" ")[2]
            raise shape_error(f"{text}_height: {value[0]} {what}_width: {value[1]}")
    return k, d, p, s
