"""Dropout that gives its mask too, and its gradient as ops of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....random import generator
from ....tensor import Tensor
from ...kernel_names import not_written
from ..declare import op, public


def _dropped(x: Any, p: float, scale: float, source: Any) -> tuple[Any, Any]:
    if source is None:
        return x.copy(), np.ones_like(x, dtype=np.bool_)
    mask = source.random(x.shape) >= p
    return x * mask * x.dtype.type(scale), mask


def _backward(g: Any, mask: Any, scale: float) -> Any:
    return g * mask * g.dtype.type(scale)


DROPOUT = op("native_dropout(input, p, scale, source)", "NativeDropoutBackward0", outputs="result0 *result1",
             input="native_dropout_backward(g, result1, scale)",
             jvp="(native_dropout_backward(input_t, result1, scale), None)", value=_dropped)  # fmt: skip
op("native_dropout_backward(grad_output, mask, scale)", "NativeDropoutBackwardBackward0", jvp="linear", mask=None,
   floats=True, grad_output="native_dropout_backward(g, mask, scale)", value=_backward)  # fmt: skip


@public("torch")
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """``(result, mask)``: elements zeroed with probability ``p`` unless ``train`` is false, the others scaled by 1 / (1 - p)."""
    if input.dtype.kind in "biu":
        raise not_written(np.dtype(np.float32), input.dtype)
    if train is False:
        found = DROPOUT(input, p, 1.0, None)
    else:
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={1 - p:g}")
        found = DROPOUT(input, p, 0.0 if p == 1 else 1 / (1 - p), generator(None, input._a))
    return found[0], found[1]
