"""How a tensor prints: values, then dtype if it is not the obvious one, then its place in the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .dtype import bool as bool_
from .dtype import get_default_dtype, int64

if TYPE_CHECKING:
    from .tensor import Tensor


def tensor_repr(t: Tensor) -> str:
    """``tensor([1.0000, 2.0000], grad_fn=<MulBackward0>)``; big tensors are abbreviated."""
    from .tensor import Parameter

    precision = {"float_kind": lambda v: _number(float(v))}
    body = np.array2string(np.asarray(t._a), separator=", ", prefix="tensor(", threshold=1000, formatter=precision)  # type: ignore[arg-type]  # numpy's stub wants another callable
    parts = [body]
    if t.dtype not in (get_default_dtype(), int64, bool_):
        parts.append(f"dtype={t.dtype}")
    if str(t.device) != "cpu":
        parts.append(f"device='{t.device}'")
    if t.grad_fn is not None:
        parts.append(f"grad_fn=<{t.grad_fn.op_name}>")
    elif t.requires_grad:
        parts.append("requires_grad=True")
    text = f"tensor({', '.join(parts)})"
    return f"Parameter containing:\n{text}" if isinstance(t, Parameter) else text


def _number(v: float) -> str:
    if v == int(v) if np.isfinite(v) else False:
        return f"{v:.0f}." if abs(v) < 1e8 else f"{v:.4e}"
    return f"{v:.4f}" if not np.isfinite(v) or 1e-4 <= abs(v) < 1e8 else f"{v:.4e}"
