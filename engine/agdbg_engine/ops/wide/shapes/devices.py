"""Copies on another device: differentiable, the gradient comes back on the device of the leaf."""

from __future__ import annotations

from typing import Any

from ....device import device as Device
from ....device import moved, pinning, resolved
from ....tensor import Tensor
from ... import kernels
from ..declare import kernel, op, public


@kernel
def to_device(x: Any, device: Device, dtype: Any, source: Device, source_dtype: Any, blocking: bool = True) -> Any:
    """A copy of ``x``, which lies on ``source``, on ``device`` as ``dtype``; not complete yet unless ``blocking``."""
    if x.dtype != dtype:
        x = kernels.to_copy(x, dtype)
    return moved(x, device, blocking)


op(
    "to_device(self, device, dtype, source, source_dtype, blocking=True)",
    "ToCopyBackward0",
    self="to_device(g, source, source_dtype, device, dtype)",
    jvp="to_device(self_t, device, dtype, source, source_dtype)",
    moves=True,
)


@kernel
def pin_memory(x: Any) -> Any:
    """A copy of ``x`` in memory that a GPU can read by itself."""
    return pinning().pinned(x)


op("pin_memory(self)", "PinMemoryBackward0", self="g", alias="self", jvp="pin_memory(self_t)", moves=True)


@public("Tensor")
def cpu(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """This tensor in main memory; itself where it is there."""
    return self.to("cpu", memory_format=memory_format)


@public("Tensor")
def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """This tensor on a GPU: the current one unless told; itself where it is there."""
    given = Device("cuda" if device is None else device)
    if given.type == "cpu":
        raise RuntimeError("Invalid device, must be cuda device")
    return self.to(resolved(given), non_blocking=non_blocking, memory_format=memory_format)
