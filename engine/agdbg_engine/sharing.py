"""``Kinds``: the methods of tensors that old scripts call to make others of the same kind, and to share or pin memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
        """A copy in memory that a GPU can read; :class:`RuntimeError` without one, as in PyTorch.

        Also with one: CuPy's copies do not need it, and nothing here would make use of it.
        """
        from . import cuda

        if not cuda.is_available():
            raise RuntimeError("Cannot access accelerator device when none is available.")
        raise NotImplementedError("pin_memory() is not supported: leave it out, copies to the GPU work without")

    def is_pinned(self, device: Any = None) -> bool:
        """Whether a GPU can read the memory: never."""
        return False
