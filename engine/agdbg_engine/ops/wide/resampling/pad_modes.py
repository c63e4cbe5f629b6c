"""``nn.functional.pad`` in all modes: around the input goes a constant, or the input again."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ....scalars import written
from ....tensor import Tensor, wrap
from ... import graph, kernels
from ...explain import shape_error
from ..convolution.windows import Ints
from ..declare import op, public
from .axes import Table, gathered, scattered
from .pad import constant_pad_nd, pairs_of


def _reflected(at: Any, n: int) -> Any:
    return n - 1 - np.abs(n - 1 - np.abs(at)) if n > 1 else np.abs(at) * 0


def _replicated(at: Any, n: int) -> Any:
    return at.clip(0, n - 1)


def _tables(shape: Ints, padding: Ints, place: Any) -> list[Table]:
    return _planned(tuple(shape[-(len(padding) // 2) :]), tuple(padding), place)


@functools.lru_cache(16)
def _planned(shape: Ints, padding: Ints, place: Any) -> list[Table]:
    found = []
    pairs = pairs_of(padding)
    for axis, (a, b) in zip(range(-len(pairs), 0), pairs, strict=True):
        if a or b:
            n = shape[axis]
            found.append(Table(axis, n, [place(np.arange(-a, n + b), n)], None))
    return found


def _declare(mode: str, n: int, place: Any) -> None:
    def value(self: Any, padding: Ints) -> Any:
        return gathered(self, _tables(self.shape, padding, place))

    def backward(grad_output: Any, self: Any, padding: Ints) -> Any:
        return scattered(grad_output, _tables(self.shape, padding, place))

    name, node = f"{mode.lower()}_pad{n}d", f"{mode}Pad{n}DBackward"
    op(
        f"{name}(self, padding)", f"{node}0", self=f"{name}_backward(g, self, padding)", jvp="linear", kinds="iufc",
        value=value,
    )  # fmt: skip
    op(
        f"{name}_backward(grad_output, self, padding)", f"{node}Backward0", grad_output=f"{name}(g, padding)",
        self="zeros_of(self_shape, g)", jvp=f"{name}_backward(grad_output_t, self, padding)", value=backward,
    )  # fmt: skip


for _n in (1, 2, 3):
    _declare("Reflection", _n, _reflected)
    _declare("Replication", _n, _replicated)

_PARTS = {"reflect": "reflection_pad", "replicate": "replication_pad"}


def _double(value: Any) -> float:
    """The number that is put around, which PyTorch takes as one of double precision: a negative one is none of bytes."""
    number: float = written(float(value) if isinstance(value, int) else value, np.dtype(np.float64))
    return number


@public("nn.functional")
def pad(input: Tensor, pad: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """``input`` with more around it: ``pad`` is (before, after) of the last dimension, of the one before, and so on.

    ``mode`` is ``"constant"`` (filled with ``value``), ``"reflect"``, ``"replicate"`` or ``"circular"``; the last three pad
    the last one, two or three dimensions of an input with as many and one or two more. Negative numbers crop.
    """
    pad = tuple(p if type(p) is int else p.__index__() for p in pad)
    k = len(pad) // 2
    if len(pad) % 2:
        raise shape_error("Padding length must be divisible by 2")
    if k > input.ndim:
        raise shape_error(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {input.ndim}"
        )
    if mode == "constant":
        return constant_pad_nd(input, pad, 0 if value is None else _double(value))
    if mode != "circular" and mode not in _PARTS:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise shape_error(f'Padding mode "{mode}" doesn\'t take in value argument')
    if not 1 <= k <= 3 or input.ndim not in (k + 1, k + 2):
        raise shape_error(
            f"Padding size {len(pad)} is not supported for {input.ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)",
            NotImplementedError,
        )
    if mode == "circular":
        return _circular(input, pad)
    _check(input, pad, mode)
    result: Tensor = getattr(graph, f"{_PARTS[mode]}{k}d")(input, pad)
    return result


def _check(x: Tensor, pad: Ints, mode: str) -> None:
    k = len(pad) // 2
    if 0 in x.shape[-k - 1 :]:
        raise shape_error(
            f"Expected {k + 1}D or {k + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
            f"input, but got: {list(x.shape)}"
        )
    for i in range(k):
        a, b, n = pad[2 * i], pad[2 * i + 1], x.shape[-1 - i]
        if mode == "reflect" and (a >= n or b >= n):
            raise shape_error(
                f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input dimension, but got: padding "
                f"({a}, {b}) at dimension {x.ndim - 1 - i} of input {list(x.shape)}"
            )
    names = "WHD"
    for i in range(k):
        n = x.shape[-1 - i]
        if n + pad[2 * i] + pad[2 * i + 1] < 1:
            size = n + pad[2 * i] + pad[2 * i + 1]
            raise shape_error(f"input ({names[i]}: {n}) is too small. Calculated output {names[i]}: {size}")


def _circular(x: Tensor, pad: Ints) -> Tensor:
    """The input written into the middle, then by dimension each end copied to the other, corners included."""
    k = len(pad) // 2
    first = x.ndim - k
    size = list(x.shape)
    pairs = pairs_of(pad)
    for axis, (a, b) in enumerate(pairs, first):
        if a > size[axis] or b > size[axis]:
            raise shape_error("Padding value causes wrapping around more than once.")
        size[axis] += a + b
        if size[axis] <= 0:
            raise shape_error("Negative padding value is resulting in an empty dimension")
    out = wrap(kernels.zeros_of(tuple(size), x._a))
    inner, kept = out, x
    for axis, (a, b) in enumerate(pairs, first):
        inner = inner.narrow(axis, max(a, 0), size[axis] - max(a, 0) - max(b, 0))
        kept = kept.narrow(axis, max(-a, 0), x.shape[axis] - max(-a, 0) - max(-b, 0))
    inner.copy_(kept)
    for axis, (a, b) in reversed(list(enumerate(pairs, first))):
        n = size[axis]
        if a > 0:
            out.narrow(axis, 0, a).copy_(out.narrow(axis, n - a - max(b, 0), a))
        if b > 0:
            out.narrow(axis, n - b, b).copy_(out.narrow(axis, max(a, 0), b))
    return out
