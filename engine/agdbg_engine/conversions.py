"""Out of the engine: a tensor as Python numbers, lists and text."""

from __future__ import annotations

import cmath
import numbers
import warnings
from typing import Any, NoReturn

from . import events, overrides
from .grad_mode import is_grad_enabled
from .missing import OF_TENSORS, refusing
from .sites import caller, user_stacklevel
from .subclass import by_user

_SCALAR = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using tensor.detach() "
    "first."
)
_warned = False

ONE_ELEMENT = "only one element tensors can be converted to Python scalars"
"""Whether that has been said: once in a process, as in PyTorch."""


class Conversions:
    """The part of :class:`~agdbg_engine.tensor.Tensor` that leaves the engine."""

    __slots__ = ()
    _a: Any

    def to_dense(self, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
        """The tensor itself, as all are dense here, or that in ``dtype``."""
        found: Any = self
        return found if dtype is None else found.to(dtype)

    def is_shared(self) -> bool:
        """False: no memory is shared between processes here."""
        return False

    def item(self: Any) -> Any:
        """The only element as a Python number."""
        if self._a.size != 1:
            raise RuntimeError(f"a Tensor with {self._a.size} elements cannot be converted to Scalar")
        if events.sink is not None and self._rg and self.requires_grad:
            events.sink.graph_cut(self, "item", *caller())
        return self._a.item()

    def tolist(self: Any) -> Any:
        """Nested lists of Python numbers."""
        if events.sink is not None and self._rg and self.requires_grad:
            events.sink.graph_cut(self, "item", *caller())
        return self._a.tolist()

    def __float__(self) -> float:
        self._warn_of_scalar()
        return float(real_of(self._number(), "double"))

    def __int__(self) -> int:
        return int(real_of(self._number(), "int64_t"))

    def __complex__(self) -> complex:
        self._warn_of_scalar()
        return complex(self._number())

    def _warn_of_scalar(self: Any) -> None:
        global _warned
        if self._rg and self.requires_grad and is_grad_enabled() and not _warned:
            _warned = True
            warnings.warn(_SCALAR, UserWarning, stacklevel=user_stacklevel())

    def _number(self) -> Any:
        if self._a.size != 1:
            raise ValueError(ONE_ELEMENT)
        return self.item()

    def __index__(self) -> int:
        if self._a.dtype.kind not in "iub" or self._a.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._a.item())

    def __bool__(self) -> bool:
        if self._a.size != 1:
            raise RuntimeError(
                "Boolean value of Tensor with no values is ambiguous"
                if self._a.size == 0
                else "Boolean value of Tensor with more than one value is ambiguous"
            )
        return bool(self._a.item())

    __long__, __nonzero__ = __int__, __bool__
    """Python's names of old, which PyTorch still has."""

    def __len__(self) -> int:
        if self._a.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._a)

    def __reversed__(self) -> Any:
        """Turned round in its first dimension."""
        own: Any = self
        return own if own.ndim == 0 else own.flip(0)

    def __delitem__(self, key: Any) -> NoReturn:
        raise TypeError("Tensor does not support deleting items")

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, Conversions | numbers.Number):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
            )
        own: Any = self
        if overrides.seen and overrides.has_torch_function((element,)):
            return bool(by_user(by_user(by_user(element, "__eq__", own), "any"), "item"))
        return bool((element == own if isinstance(element, Conversions) else own == element).any())

    def __repr__(self: Any) -> str:
        from .printing import tensor_repr

        return tensor_repr(self)

    def __format__(self, spec: str) -> str:
        from .tensor import Tensor

        return (
            format(self._a.item(), spec)
            if self._a.ndim == 0 and type(self) is Tensor
            else object.__format__(self, spec)
        )


def real_of(value: Any, kind: str) -> Any:
    """A number without its imaginary part, which must be 0."""
    if not isinstance(value, complex):
        return value
    if value.imag or cmath.isnan(value):
        raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
    return value.real


for _name in OF_TENSORS:
    setattr(Conversions, _name, refusing(_name))
Conversions.storage = refusing("storage", as_="untyped_storage")  # type: ignore[attr-defined]  # as those above
