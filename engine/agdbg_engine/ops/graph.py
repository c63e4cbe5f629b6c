"""Functions that formulas call on tensors, under ``create_graph``: the recorded ops, and what is no op of its own.

:mod:`agdbg_engine.ops` fills in the ops of the table under their names.
"""

from __future__ import annotations

from typing import Any

from ..errors import detached  # noqa: F401 - raised by generated formulas
from ..tensor import Tensor, wrap
from ..view import saved_output
from ..zero_tangent import filled, linear  # noqa: F401 - used by tangent formulas
from .kernels import GELU
from .kernels import ones_as as _ones_as
from .kernels import zeros_of as _zeros_of
from .kernels_reduce import numel

Shape = tuple[int, ...]


def zeros_of(shape: Shape, like: Tensor) -> Tensor:
    """Constant zeros in the dtype and library of ``like``."""
    return wrap(_zeros_of(shape, like._a))


def constant(value: float, like: Tensor) -> float:
    """``value`` itself: what is recorded is an op with a number."""
    return value


def ones_as(x: Tensor) -> Tensor:
    """Constant ones in the shape, dtype and library of ``x``."""
    return wrap(_ones_as(x._a))


def contiguous(x: Tensor) -> Tensor:
    """``x``, copied if its elements do not lie in order."""
    return x.contiguous()


def reshape(x: Tensor, shape: Shape) -> Tensor:
    """X in another shape."""
    return x.reshape(shape)


def sum_to(g: Tensor, shape: Shape) -> Tensor:
    """``g`` summed down to ``shape``, from which it was broadcast."""
    from . import _generated as ops

    if g.shape == shape:
        return g
    lead = g.ndim - len(shape)
    ones = (i + lead for i, s in enumerate(shape) if s == 1 != g.shape[i + lead])
    summed = ops.sum_dim(g, (*range(lead), *ones), True)
    return ops.view(summed, shape) if lead else summed


def mean_share(g: Tensor, shape: Shape, dim: Any = None) -> Tensor:
    """``g`` over the number of elements that had a mean."""
    n = numel(shape, dim)
    return (g.float() / n).half() if g._a.dtype.char == "e" else g / n


def tanh_grad(g: Tensor, result: Tensor) -> Tensor:
    """The gradient of the tanh ``result``."""
    return g * (1 - result * result)


def sigmoid_grad(g: Tensor, result: Tensor) -> Tensor:
    """The gradient of the sigmoid ``result``."""
    return g * (1 - result) * result


def gelu_tanh_grad(g: Tensor, x: Tensor) -> Tensor:
    """Gradient of the tanh form of gelu."""
    t = (GELU * (x + 0.044715 * (x * x * x))).tanh()
    return g * (0.5 * (1 + t) + x * (1 - t * t) * (0.5 * GELU * (1 + 3 * 0.044715 * (x * x))))


def softmax_grad(g: Tensor, result: Tensor, dim: int) -> Tensor:
    """The gradient of the softmax ``result``."""
    return result * (g - (g * result).sum(dim, True))


def log_softmax_grad(g: Tensor, result: Tensor, dim: int) -> Tensor:
    """The gradient of the log_softmax ``result``."""
    return g - result.exp() * g.sum(dim, True)


def ger(u: Tensor, v: Tensor) -> Tensor:
    """Outer product."""
    from . import _generated as ops

    return ops.mul(ops.unsqueeze(u, 1), v)


def mm_left(a: Tensor, g: Tensor, swapped: bool) -> Tensor:
    """``a.T @ g``; the layout is left to the product."""
    return a.t().mm(g)


def output_of(node: Any) -> Tensor:
    """The saved result of ``node`` with its history: made anew, since the node keeps only the buffer."""
    return saved_output(node, node.s_result, node.o_storage)


def pick(x: Tensor, indices: Tensor, dim: int, keepdim: bool) -> Tensor:
    """The element at ``indices`` (whose shape is that of the result) along ``dim``."""
    from . import _generated as ops

    if x.ndim == 0:
        return ops.clone(x)
    if keepdim:
        return ops.gather(x, dim, indices)
    return ops.squeeze_dim(ops.gather(x, dim, ops.unsqueeze(indices, dim)), dim)


def keep(g: Tensor, mask: Tensor) -> Tensor:
    """``g`` where ``mask``, else 0."""
    from . import _generated as ops

    return ops.where(mask, g, 0.0)


def silu_backward(g: Tensor, x: Tensor) -> Tensor:
    """The gradient of silu, of single ops as in PyTorch."""
    from . import _generated as ops

    return g * (ops.sigmoid(x) * (1 + x * (1 - ops.sigmoid(x))))


def softplus_backward(g: Tensor, x: Tensor, beta: float, threshold: float) -> Tensor:
    """The gradient of softplus, of single ops."""
    from . import _generated as ops

    return ops.where(x * beta > threshold, g, g * ops.sigmoid(x * beta))


def drop(g: Tensor, mask: Tensor) -> Tensor:
    """``g`` where not ``mask``, else 0."""
    from . import _generated as ops

    return ops.masked_fill(g, mask, 0.0)
