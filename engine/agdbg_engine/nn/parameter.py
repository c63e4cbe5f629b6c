"""Tensors that modules hold: :class:`Parameter`, which is trained, and :class:`Buffer`, which is not."""

from __future__ import annotations

from typing import Any

from ..tensor import Parameter, Tensor, wrap

__all__ = ["Buffer", "Parameter"]


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

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        if data is None:
            from ..creation import empty

            data = empty(0)
        made: Any = wrap(data._a)
        made._storage = data._shared_storage()
        if data.requires_grad:
            made.requires_grad_()
        made.persistent = persistent
        made._is_buffer = True
        return made
