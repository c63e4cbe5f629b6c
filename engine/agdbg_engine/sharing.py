"""``Kinds``: the methods of tensors that old scripts call to make others of the same kind, and to share or pin memory."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .tensor import Tensor


class Kinds:
    """The part of :class:`~agdbg_engine.tensor.Tensor` about kinds of tensors and of memory."""

    __slots__ = ()

    def type(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of this kind of tensor; with ``dtype`` (or a name, such as ``torch.LongTensor``) this tensor as such a one."""
        from .tensor_types import cast, type_name

        return type_name(self) if dtype is None else cast(self, dtype, non_blocking)

    def new(self: Any, *args: Any, device: Any = None) -> Tensor:
        """A tensor of the same dtype of data, of sizes (with any content), or without elements."""
        from .tensor_types import new

        return new(self.dtype, self.device if device is None else device, args)

    def pin_memory(self: Any, device: Any = None) -> Any:
        """A copy in memory that a GPU can read, so that ``to(..., non_blocking=True)`` need not wait; itself if it is there.

        :class:`RuntimeError` without a GPU, as in PyTorch.
        """
        from .device import pinning

        _deprecated("pin_memory", device)
        from .ops import graph

        backend = pinning()
        if not isinstance(self._a, np.ndarray):
            raise RuntimeError(f"cannot pin '{type(self).__name__}': only dense CPU tensors can be pinned")
        return self if backend.is_pinned(self._a) else graph.pin_memory(self)  # type: ignore[attr-defined]  # a row

    def record_stream(self: Any, s: Any) -> None:
        """Let the memory be used by others, once it is free, only when stream ``s`` has done what it was asked for until then."""
        from . import stream_memory
        from .backends import backend_of, on_host
        from .streams import Stream

        if not isinstance(s, Stream):
            raise TypeError(f"record_stream(): argument 's' (position 1) must be Stream, not {type(s).__name__}")
        if on_host(self._a) or backend_of(self._a) is not s.backend:
            raise NotImplementedError(
                f"Could not run 'aten::record_stream' with arguments from the '{self.device.type.upper()}' backend."
            )
        stream_memory.record(self._a, s)

    def is_pinned(self: Any, device: Any = None) -> bool:
        """Whether a GPU can read the memory by itself."""
        from .backends import BACKENDS

        _deprecated("is_pinned", device)
        return isinstance(self._a, np.ndarray) and any(b.pins and b.is_pinned(self._a) for b in BACKENDS.values())


def _deprecated(method: str, device: Any) -> None:
    if device is not None:
        text = f"The argument 'device' of Tensor.{method}() is deprecated. Please do not pass this argument."
        warnings.warn(text, DeprecationWarning, stacklevel=3)
