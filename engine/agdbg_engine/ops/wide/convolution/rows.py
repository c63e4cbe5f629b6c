"""Convolution: its value and the two maps behind its gradients, each one matrix product over all windows.

The three are one trilinear form read in three ways, so the derivatives of each are the others: second and higher orders
need nothing more. Transposed convolution is the map from results to inputs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..declare import formula, kernel, op
from .windows import Ints, around, overlapped, padded, steps, windows


def _wide(x: Any) -> Any:
    """Half precision in single for the sums: the result is rounded once."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def _columns(x: Any, window: Ints, places: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    """The windows of ``x`` (N, C, ...) as matrices (groups, C / groups * window, N * places)."""
    k = len(window)
    found = windows(padded(x, around(padding)), window, stride, dilation, places)
    n, c = found.shape[:2]
    moved = found.transpose(1, *range(2 + k, 2 + 2 * k), 0, *range(2, 2 + k))
    rows, columns = c // groups * math.prod(window), n * math.prod(places)
    return moved.reshape(groups, rows, columns)


def _by_group(g: Any, groups: int) -> Any:
    """Results (N, O, ...) as matrices (groups, O / groups, N * places)."""
    return g.swapaxes(0, 1).reshape(groups, g.shape[1] // groups, g.shape[0] * math.prod(g.shape[2:]))


def _rows(w: Any, groups: int) -> Any:
    """A weight (O, C / groups, *window) as matrices (groups, O / groups, C / groups * window)."""
    return w.reshape(groups, w.shape[0] // groups, math.prod(w.shape[1:]))


def _correlate(x: Any, w: Any, places: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    """The results (N, O, *places) of a convolution of ``x`` with ``w``."""
    columns = _columns(_wide(x), w.shape[2:], places, stride, padding, dilation, groups)
    y = np.matmul(_rows(_wide(w), groups), columns)
    y = y.reshape(w.shape[0], x.shape[0], *places).swapaxes(0, 1)
    return y.astype(x.dtype, "C")


def _to_inputs(g: Any, w: Any, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    """Results spread over inputs (N, C, *size)."""
    reach = tuple(d * (n - 1) for d, n in zip(dilation, w.shape[2:], strict=True))
    few = w.shape[0] <= w.shape[1] * groups
    if few and _dense(g.shape[2:], size, stride, padding, reach) and _keeps_zeros(w):
        beyond = tuple(r - p for r, p in zip(reach, padding, strict=True))
        return _correlate(g, _turned(w, groups), size, stride, beyond, dilation, groups)
    factors, results = _rows(_wide(w), groups).swapaxes(1, 2), _by_group(_wide(g), groups)
    parts = np.matmul(factors, results) if results.shape[1] > 1 else factors * results
    parts = parts.reshape(w.shape[1] * groups, *w.shape[2:], g.shape[0], *g.shape[2:])
    k = len(size)
    parts = parts.transpose(0, 1 + k, *range(1, 1 + k), *range(2 + k, 2 + 2 * k))
    return overlapped(parts, size, stride, padding, dilation).swapaxes(0, 1).astype(g.dtype, "C")


def _dense(places: Ints, size: Ints, stride: Ints, padding: Ints, reach: Ints) -> bool:
    """Whether every input has a window that begins there: then its gradient is a convolution too, the other way round."""
    return all(
        s == 1 and p <= r and m == n + 2 * p - r
        for m, n, s, p, r in zip(places, size, stride, padding, reach, strict=True)
    )


def _keeps_zeros(w: Any) -> bool:
    """Whether padding stays zero where it is multiplied with ``w``: not with infinities or NaN; a device is not asked."""
    return not isinstance(w, np.ndarray) or bool(np.isfinite(w).all())


def _turned(w: Any, groups: int) -> Any:
    """The weight (C, O / groups, ...) of the way back: inputs and results exchanged, windows turned round."""
    each = w.reshape(groups, w.shape[0] // groups, *w.shape[1:]).swapaxes(1, 2)
    each = np.flip(each, tuple(range(3, each.ndim)))
    return each.reshape(w.shape[1] * groups, w.shape[0] // groups, *w.shape[2:])


def _to_weights(g: Any, x: Any, shape: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    """Results and inputs multiplied into weights of ``shape``."""
    columns = _columns(_wide(x), shape[2:], g.shape[2:], stride, padding, dilation, groups)
    found = np.matmul(columns, _by_group(_wide(g), groups).swapaxes(1, 2))  # twice as fast as its transpose
    return found.swapaxes(1, 2).reshape(shape).astype(x.dtype)


def transposed_size(size: Ints, window: Ints, stride: Ints, padding: Ints, dilation: Ints, extra: Ints) -> Ints:
    """The size of what a transposed convolution makes of ``size``."""
    return tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + e + 1
        for n, k, s, p, d, e in zip(size, window, stride, padding, dilation, extra, strict=True)
    )


# ----- the three maps; ``transposed`` exchanges the roles of inputs and results -----


@kernel
def convolution(
    input: Any, weight: Any, bias: Any, stride: Ints, padding: Ints, dilation: Ints, transposed: bool, output_padding: Ints,
    groups: int,
) -> Any:  # fmt: skip
    """The convolution of (N, C, ...) with a weight (O, C / groups, ...), or (C, O / groups, ...) if transposed."""
    if transposed:
        size = transposed_size(input.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding)
        y = _to_inputs(input, weight, size, stride, padding, dilation, groups)
    else:
        sizes = [n + 2 * p for n, p in zip(input.shape[2:], padding, strict=True)]
        places = tuple(map(steps, sizes, weight.shape[2:], stride, dilation))
        y = _correlate(input, weight, places, stride, padding, dilation, groups)
    if bias is not None:
        y += bias.reshape(-1, *(1,) * (y.ndim - 2))
    return y


@kernel
def convolution_input(
    grad_output: Any, input: Any, weight: Any, shape: Ints, stride: Ints, padding: Ints, dilation: Ints, transposed: bool,
    output_padding: Ints, groups: int,
) -> Any:  # fmt: skip
    """The gradient of a convolution in its ``input`` of ``shape``, an argument so that the gradient requires grad with it."""
    if transposed:
        return _correlate(grad_output, weight, shape[2:], stride, padding, dilation, groups)
    return _to_inputs(grad_output, weight, shape[2:], stride, padding, dilation, groups)


@kernel
def convolution_weight(
    grad_output: Any, input: Any, weight: Any, shape: Ints, stride: Ints, padding: Ints, dilation: Ints, transposed: bool,
    output_padding: Ints, groups: int,
) -> Any:  # fmt: skip
    """The gradient of a convolution in its ``weight`` of ``shape``, an argument as that of :func:`convolution_input`."""
    if transposed:
        grad_output, input = input, grad_output
    return _to_weights(grad_output, input, shape, stride, padding, dilation, groups)


@formula
def bias_gradient(F: Any, g: Any) -> Any:
    """The gradient of what was added to every channel of (N, C, ...)."""
    return F.sum_dim(g, (0, *range(2, g.ndim)), False)


_HOW = "stride, padding, dilation, transposed, output_padding, groups"

op(
    f"convolution(input, weight, bias, {_HOW})", "ConvolutionBackward0",
    input=f"convolution_input(g, input, weight, input_shape, {_HOW})",
    weight=f"convolution_weight(g, input, weight, weight_shape, {_HOW})",
    bias="bias_gradient(g)",
    jvp=f"convolution(input_t, weight, None, {_HOW}) + convolution(input, weight_t, bias_t, {_HOW})",
)  # fmt: skip
op(
    f"convolution_input(grad_output, input, weight, shape, {_HOW})", "ConvolutionBackwardBackward0",
    grad_output=f"convolution(g, weight, None, {_HOW})", input="None",
    weight=f"convolution_weight(grad_output, g, weight, weight_shape, {_HOW})",
    jvp=f"convolution_input(grad_output_t, input, weight, shape, {_HOW})"
    f" + convolution_input(grad_output, input, weight_t, shape, {_HOW})",
)  # fmt: skip
op(
    f"convolution_weight(grad_output, input, weight, shape, {_HOW})", "ConvolutionBackwardBackward0",
    grad_output=f"convolution(input, g, None, {_HOW})", weight="None",
    input=f"convolution_input(grad_output, input, g, input_shape, {_HOW})",
    jvp=f"convolution_weight(grad_output_t, input, weight, shape, {_HOW})"
    f" + convolution_weight(grad_output, input_t, weight, shape, {_HOW})",
)  # fmt: skip
