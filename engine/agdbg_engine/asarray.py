"""``asarray``: data as a tensor, with or without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .backends import on_device
from .creation import as_tensor, tensor
from .device import asked, resolved
from .dtype import scalar_type
from .tensor import Tensor


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """``obj`` (a tensor, an array, a buffer of bytes, numbers, nested lists) as a tensor.

    Shares memory where it can unless ``copy`` is true; with ``copy=False`` it is a :class:`ValueError` where that cannot be.
    Without ``requires_grad`` a tensor keeps its history; with ``False`` a leaf that is given needs no gradient from then on, as
    in PyTorch.
    """
    if isinstance(obj, bytes | bytearray | memoryview):
        obj = np.frombuffer(obj, np.dtype(dtype or np.float32))
        obj = obj if obj.flags.writeable else obj.copy()
    if not isinstance(obj, Tensor | np.ndarray) and not on_device(obj):
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    if copy is False and dtype is not None and np.dtype(dtype) != obj.dtype:
        raise ValueError(
            f"can't alias tensor with dtype '{scalar_type(obj.dtype)}' into dtype '{scalar_type(np.dtype(dtype))}'."
        )
    found = as_tensor(obj, dtype=dtype, device=device)
    if copy is False and asked(device) is not None and isinstance(obj, Tensor) and obj.device != resolved(device):
        raise ValueError(f"can't alias tensor on {obj.device} as a tensor on {resolved(device)}.")
    if copy and (found is obj or not isinstance(obj, Tensor)):
        found = found.clone()
    if requires_grad is None or found.requires_grad == requires_grad:
        return found
    return found.requires_grad_(requires_grad) if found.is_leaf else found.detach()
