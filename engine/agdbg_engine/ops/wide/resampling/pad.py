"""Padding with a constant; the modes that repeat the input are in :mod:`.pad_modes`."""

from __future__ import annotations

from typing import Any

from ....scalars import written
from ....tensor import Tensor
from ... import graph
from ...explain import shape_error
from ..convolution.windows import Ints, Pairs, padded
from ..declare import in_both, op, public


def pairs_of(pad: Ints) -> Pairs:
    """PyTorch's list of paddings, which begins with the last dimension, as (before, after) in the order of dimensions."""
    return tuple((pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2))


def _constant(self: Any, pad: Ints, value: Any) -> Any:
    return padded(self, pairs_of(pad), value) if pad else self.copy()


def _opposite(pad: Ints) -> Ints:
    return tuple(-p for p in pad)


in_both("opposite_pad", _opposite, _opposite)
op(
    "constant_pad_raw(self, pad, value)", "ConstantPadNdBackward0", self="constant_pad_raw(g, opposite_pad(pad), 0)",
    jvp="constant_pad_raw(self_t, pad, 0)", value=_constant,
)  # fmt: skip


@public("torch")
def constant_pad_nd(self: Tensor, pad: Any, value: Any = 0) -> Tensor:
    """``self`` with ``value`` put around it: ``pad`` is (before, after) of the last dimension, of the one before ...

    Negative numbers crop.
    """
    pad = tuple(int(p) for p in pad)
    if len(pad) % 2:
        raise shape_error(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * self.ndim:
        raise shape_error(
            f"Length of pad should be no more than twice the number of dimensions of the input. Pad length is {len(pad)} while the "
            f"input has {self.ndim} dimensions."
        )
    for axis, (a, b) in enumerate(pairs_of(pad), self.ndim - len(pad) // 2):
        n = self.shape[axis]
        if n - max(-a, 0) - max(-b, 0) < 0:
            raise shape_error("narrow(): length must be non-negative.")
        if n + a + b < 0:
            raise shape_error(
                f"The input size {n}, plus negative padding {a} and {b} resulted in a negative output size, which is invalid. "
                f"Check dimension {axis} of your input."
            )
    if isinstance(value, Tensor):
        value = value._a.item()
    return graph.constant_pad_raw(self, pad, written(value, self.dtype))  # type: ignore[attr-defined]  # a row
