"""Tensors that modules hold: :class:`Parameter`, which is trained, and :class:`Buffer`, which is not."""

from __future__ import annotations

from typing import Any

from ..errors import class_name
from ..foreign import refuse
from ..overrides import disabled
from ..storage import InferenceStorage
from ..tensor import Parameter, Tensor, wrap
from .uninitialized import UninitializedBuffer, UninitializedParameter, UninitializedTensorMixin, is_lazy

__all__ = [
    "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "check_size",
    "drawn", "is_lazy", "written",
]  # fmt: skip


def written(tensor: Tensor) -> Tensor:
    """``tensor``, written once: PyTorch's modules allocate memory and then write into it, so they begin at version 1."""
    storage = tensor._shared_storage()
    if not isinstance(storage, InferenceStorage):
        storage.version += 1
    return tensor


def check_size(size: Any) -> None:
    """Refuse what is no size of a parameter in the words of ``empty``, of which PyTorch's modules make theirs."""
    from ..creation import empty

    if not all(type(n) is int and n >= 0 for n in (size if isinstance(size, tuple) else (size,))):
        empty(size)


def drawn(values: Tensor, requires_grad: bool = True) -> Parameter:
    """A parameter of a new module, :func:`written` once."""
    made = Parameter(values, requires_grad)
    written(made)
    return made


class _BufferKind(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is Buffer:
            return isinstance(instance, Tensor) and bool(getattr(instance, "_is_buffer", False))
        return super().__instancecheck__(instance)


class Buffer(Tensor, metaclass=_BufferKind):
    """A tensor that becomes a buffer of the module to which it is assigned; not ``persistent``: no part of its state.

    As in PyTorch what is made is a plain tensor with marks, on the memory of ``data``.
    """

    __slots__ = ()
    __torch_function__ = staticmethod(disabled)

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        if data is None:
            from ..creation import empty

            data = empty(0)
        if not isinstance(data, Tensor):
            refuse(data, "Buffer", "data")
            raise AttributeError(f"'{class_name(data)}' object has no attribute 'detach'")
        made: Any = wrap(data._a)
        made._storage = data._shared_storage()
        if data.requires_grad:
            made.requires_grad_()
        made.persistent = persistent
        made._is_buffer = True
        return made
