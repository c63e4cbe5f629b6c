"""PyTorch's old names of kinds of tensors: ``FloatTensor([1, 2])``, ``x.type("torch.LongTensor")``, ``x.new(2, 3)``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .creation import empty, tensor
from .device import device as Device
from .device import resolved
from .dtype import scalar_type, set_default_dtype
from .missing import with_reason
from .size import Size
from .tensor import Tensor

_DTYPES = {
    "HalfTensor": "float16", "FloatTensor": "float32", "DoubleTensor": "float64", "ComplexFloatTensor": "complex64",
    "ComplexDoubleTensor": "complex128", "ByteTensor": "uint8", "CharTensor": "int8", "ShortTensor": "int16",
    "IntTensor": "int32", "LongTensor": "int64", "BoolTensor": "bool",
}  # fmt: skip


class TensorType:
    """A dtype and a kind of device under one name: called, it makes such a tensor; ``isinstance`` asks for both."""

    def __init__(self, name: str, dtype: Any, kind: str = "cpu") -> None:
        self.__name__ = name
        self.dtype = np.dtype(dtype)
        self.kind = kind
        self.__module__ = "torch" if kind == "cpu" else f"torch.{kind}"

    def __call__(self, *args: Any) -> Tensor:
        """From data (a sequence, an array, a tensor of that dtype, whose memory is shared), or of sizes, with any content."""
        return new(self.dtype, self.kind, args)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype == self.dtype and instance.device.type == self.kind

    def __repr__(self) -> str:
        return f"<class '{self.__module__}.{self.__name__}'>"


TYPES = {name: TensorType(name, dtype) for name, dtype in _DTYPES.items() if not name.startswith("Complex")}
"""The kinds of tensors of the CPU, by name."""


def set_default_tensor_type(t: TensorType | str, /) -> None:
    """Set the dtype of tensors made of Python floats (``torch.DoubleTensor`` or its name); the older :func:`set_default_dtype`."""
    name = t if isinstance(t, str) else f"torch.{getattr(t, '__name__', t)}"
    kind = TYPES.get(name.removeprefix("torch."))
    if kind is None:
        raise TypeError(
            f"invalid type object: only floating-point types of the CPU are supported as the default type, got {t!r}"
        )
    set_default_dtype(kind.dtype)


def new(dtype: np.dtype[Any], device: Any, args: tuple[Any, ...]) -> Tensor:
    """A new tensor as the old constructors made it of ``args``: nothing, sizes, or data."""
    if not args or type(args[0]) is Size or all(hasattr(a, "__index__") and not _is_array(a) for a in args):
        return empty(*args or (0,), dtype=dtype, device=device)
    (data,) = args if len(args) == 1 else (None,)
    if isinstance(data, Tensor):
        if data.dtype != dtype or data.device.type != resolved(device).type:
            wanted, given = f"{scalar_type(dtype)} on {resolved(device)}", f"{scalar_type(data.dtype)} on {data.device}"
            raise TypeError(f"expected a tensor of type {wanted} (got {given}): convert it with to()")
        return data.detach()
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    if not hasattr(data, "__len__"):
        kinds = ", ".join(type(a).__name__ for a in args)
        raise TypeError(f"new(): data must be a sequence (got {kinds})")
    return tensor(data, dtype=dtype, device=device)


def _is_array(x: Any) -> bool:
    return isinstance(x, Tensor | np.ndarray)


def type_name(t: Tensor) -> str:
    """PyTorch's name of the kind of ``t``: ``torch.FloatTensor``, ``torch.cuda.LongTensor``."""
    return f"torch.{'' if t.is_cpu else t.device.type + '.'}{scalar_type(t.dtype)}Tensor"


def cast(t: Tensor, wanted: Any, non_blocking: bool = False) -> Tensor:
    """``t`` as the kind that ``wanted`` names: a dtype, a name, or one of :data:`TYPES`."""
    if isinstance(wanted, TensorType):
        return t.to(device=wanted.kind, dtype=wanted.dtype)
    if isinstance(wanted, str):
        torch, _, rest = wanted.partition(".")
        kind, _, name = rest.rpartition(".")
        if torch != "torch" or name not in _DTYPES or (kind and kind != "cuda"):
            raise ValueError(with_reason(f"invalid type: '{wanted}'", name))
        return t.to(device=Device(kind or "cpu"), dtype=np.dtype(_DTYPES[name]))
    if wanted is Tensor:
        return t.to(dtype=np.dtype("float32"))
    if not isinstance(wanted, np.dtype) and not (isinstance(wanted, type) and issubclass(wanted, np.generic)):
        raise TypeError("dtype must be a type, str, or dtype object")
    return t.to(dtype=np.dtype(wanted))
