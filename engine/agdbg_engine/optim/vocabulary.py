"""What the rules of optimizers are written in: the same few in-place steps, on buffers or on tensors.

On buffers they are NumPy's, fast and unknown to autograd; on tensors they are recorded ops, so that gradients flow through a
step (``differentiable=True``). Every function with a name that ends in ``_`` changes its first argument.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensor import Tensor


class Buffers:
    """On buffers; numbers are Python's."""

    @staticmethod
    def number(x: Any) -> Any:
        """An option as a number."""
        if isinstance(x, Tensor):
            return x._a.item()
        return x if type(x) is float else float(x)

    @staticmethod
    def rate(x: Any) -> Any:
        """A learning rate to compute with: that of a tensor in its dtype, in which PyTorch computes with it."""
        return x.dtype.type(x._a.item()) if isinstance(x, Tensor) else x

    @staticmethod
    def add_(x: Any, y: Any, alpha: Any = 1) -> None:
        """``x += alpha * y``."""
        x += y if alpha == 1 else alpha * y

    @staticmethod
    def mul_(x: Any, factor: Any) -> None:
        """``x *= factor``."""
        x *= factor

    @staticmethod
    def lerp_(x: Any, end: Any, weight: float) -> None:
        """Go the part ``weight`` of the way to ``end``."""
        way = end - x
        way *= weight
        x += way

    @staticmethod
    def addcmul_(x: Any, a: Any, b: Any, value: float = 1) -> None:
        """``x += value * a * b``."""
        product = a * b
        product *= value
        x += product

    @staticmethod
    def addcdiv_(x: Any, a: Any, b: Any, value: float = 1) -> None:
        """``x += value * a / b``."""
        quotient = a / b
        quotient *= value
        x += quotient

    @staticmethod
    def root(x: Any, divisor: Any, eps: float) -> Any:
        """``sqrt(x) / divisor + eps``."""
        made = np.sqrt(x)
        if divisor != 1:
            made /= divisor
        made += eps
        return made

    @staticmethod
    def maximum_(x: Any, y: Any) -> None:
        """The larger one, element by element."""
        np.maximum(x, y, out=x)

    @staticmethod
    def clamp_(x: Any, low: float, high: float) -> None:
        """Between ``low`` and ``high``."""
        np.clip(x, low, high, out=x)

    @staticmethod
    def copy_(x: Any, y: Any) -> None:
        """``y``."""
        x[...] = y

    @staticmethod
    def fresh(x: Any) -> Any:
        """``x`` as something that may be saved although ``x`` is to be written."""
        return x

    sqrt, sign, abs, where = np.sqrt, np.sign, np.abs, np.where


class Tensors:
    """On tensors; an option may be one too, and get a gradient."""

    @staticmethod
    def number(x: Any) -> Any:
        """An option as it is, without dimensions."""
        return x.squeeze() if isinstance(x, Tensor) and x.ndim else x

    rate = number
    """A learning rate to compute with."""

    @staticmethod
    def add_(x: Any, y: Any, alpha: Any = 1) -> None:
        """``x += alpha * y``."""
        if isinstance(alpha, Tensor):
            x.addcmul_(y, alpha)
        else:
            x.add_(y, alpha=alpha)

    @staticmethod
    def mul_(x: Any, factor: Any) -> None:
        """``x *= factor``."""
        x.mul_(factor)

    @staticmethod
    def lerp_(x: Any, end: Any, weight: Any) -> None:
        """Go the part ``weight`` of the way to ``end``."""
        x.lerp_(end, weight)

    @staticmethod
    def addcmul_(x: Any, a: Any, b: Any, value: Any = 1) -> None:
        """``x += value * a * b``."""
        if isinstance(value, Tensor):
            x.add_(a * b * value)
        else:
            x.addcmul_(a, b, value=value)

    @staticmethod
    def addcdiv_(x: Any, a: Any, b: Any, value: Any = 1) -> None:
        """``x += value * a / b``."""
        if isinstance(value, Tensor):
            x.addcdiv_(a * value, b)
        else:
            x.addcdiv_(a, b, value=value)

    @staticmethod
    def root(x: Any, divisor: Any, eps: Any) -> Any:
        """``sqrt(x) / divisor + eps``."""
        return x.sqrt() / divisor + eps

    @staticmethod
    def maximum_(x: Any, y: Any) -> None:
        """The larger one, element by element."""
        x.copy_(x.clone().maximum(y))

    @staticmethod
    def clamp_(x: Any, low: Any, high: Any) -> None:
        """Between ``low`` and ``high``."""
        x.clamp_(low, high)

    @staticmethod
    def copy_(x: Any, y: Any) -> None:
        """``y``."""
        x.copy_(y)

    @staticmethod
    def fresh(x: Any) -> Any:
        """``x`` as something that may be saved although ``x`` is to be written."""
        return x.clone()

    @staticmethod
    def sqrt(x: Any) -> Any:
        """The square root."""
        return x.sqrt()

    @staticmethod
    def sign(x: Any) -> Any:
        """-1, 0 or 1."""
        return x.sign()

    @staticmethod
    def abs(x: Any) -> Any:
        """The absolute value."""
        return x.abs()

    @staticmethod
    def where(condition: Any, x: Any, y: Any) -> Any:
        """``x`` where the condition holds, else ``y``."""
        from .. import ops

        return ops.FUNCTIONS["where"](condition, x, y)
