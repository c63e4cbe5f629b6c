"""Parameters and buffers whose size is not known yet: what lazy modules hold until they see their first input."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import ops
from ..creation import empty
from ..tensor import Parameter, Tensor

__all__ = ["UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy"]

_METHODS = (
    "__hash__", "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double", "char", "short", "int", "long",
    "cuda", "cpu", "to", "get_device",
)  # fmt: skip
_ALLOWED = frozenset((ops.to_copy, ops.to_device, *(getattr(Tensor, name) for name in _METHODS)))
"""What may be done without a size."""


class UninitializedTensorMixin(Tensor):
    """A tensor without a size: it has a dtype and a device, and :meth:`materialize` gives it memory."""

    __slots__ = ()
    cls_to_become: ClassVar[type[Tensor]] = Tensor

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary tensor of ``shape``, with any content; the object stays the same."""
        data = self.data
        self.data = empty(shape, device=data.device if device is None else device, dtype=dtype or data.dtype)
        self.__class__ = self.cls_to_become  # type: ignore[assignment]  # the object stays, its class does not

    @property
    def shape(self) -> Any:
        """Raises :class:`RuntimeError`: nobody knows it yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when "
            "trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters before "
            "accessing their attributes."
        )

    def share_memory_(self) -> Any:
        """Raises :class:`RuntimeError`: there is none."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before "
            "calling `module.share_memory()`."
        )

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, proto: Any) -> Any:
        return type(self), (self.requires_grad,)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Allow what needs no size; :class:`ValueError` for everything else."""
        if func in _ALLOWED or type(func).__name__ == "method-wrapper":
            return super().__torch_function__(func, types, args, kwargs)
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a `LazyModule` or "
            f"explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call `forward` with a "
            "dummy batch to initialize the parameters before calling torch functions"
        )


def is_lazy(param: Any) -> bool:
    """Whether ``param`` has no size yet."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter without a size."""

    __slots__ = ()
    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        """On ``device``, of ``dtype``: the default ones unless given."""
        return Tensor._make_subclass(cls, empty(0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin):
    """A buffer without a size."""

    __slots__ = ()

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        """On ``device``, of ``dtype``: the default ones unless given."""
        made = Tensor._make_subclass(cls, empty(0, device=device, dtype=dtype), requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made
