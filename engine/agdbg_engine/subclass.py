"""Subclasses of Tensor: how they are made, and how their methods and properties ask ``__torch_function__`` first.

A class that overrides gets a wrapped form of everything that it inherits from :class:`~agdbg_engine.tensor.Tensor` when it
is defined. Calls that come from the engine itself are never overridden, but for the ops that they call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from numbers import Number
from sys import _getframe
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from . import foreign, overrides
from .grad_mode import mode
from .overrides import DisableTorchFunctionSubclass, Overridden, ask, dispatch, overloaded
from .sites import INTERNAL

if TYPE_CHECKING:
    from .tensor import Tensor

_NEVER = frozenset((
    "__array_ufunc__", "__array_wrap__", "__delitem__", "__getattribute__", "__hash__", "__init_subclass__", "__new__",
    "__torch_function__", "_make_subclass", "as_subclass",
))  # fmt: skip
_PRIVATE = frozenset(("_base", "_is_view", "_version", "_backward_hooks"))
_UNWRAPPED_RESULTS = ("_base", "grad")
"""Properties whose tensors the default leaves as they are."""

SLOTS = ("_a", "_fn", "_gradient", "_meta", "_nr", "_rg", "_storage")
"""Where a tensor has its state."""


class Subclassing:
    """The part of :class:`~agdbg_engine.tensor.Tensor` that its subclasses need."""

    __slots__ = ()

    def __new__(cls, *data: Any, device: Any = None) -> Any:
        """As in PyTorch a habit of old: ``Tensor(2, 3)`` has that size, ``Tensor([2, 3])`` these elements as floats."""
        if len(data) == 1 and isinstance(data[0], Subclassing):
            return data[0].as_subclass(cls)
        made = _from_data(data, device)
        return made if cls in overrides._plain else _as(made, cls)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if Subclassing in cls.__bases__:
            overrides._plain.append(cls)
        elif overrides.overrides(cls):
            _adopt(cls)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call ``func`` with nothing overridden and make the tensors that it returns objects of ``cls``.

        ``NotImplemented`` when there is an argument of a class that ``cls`` does not descend from.
        """
        if foreign.belongs_to_pytorch(func):
            return foreign.refused_there(func, types, args, kwargs or {})
        if not all(issubclass(cls, t) for t in types):
            return NotImplemented
        with DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))
            return result if func in _unwrapped() else _converted(result, cls)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self)} - {"volatile", "__cuda_array_interface__"[: 0 if self.is_cuda else None]})  # type: ignore[attr-defined]  # of every object

    def as_subclass(self: Any, cls: Any) -> Any:
        """This tensor as an object of ``cls``: an alias of it, so gradients flow through."""
        from .ops._generated import alias

        _check_class(cls)
        with DisableTorchFunctionSubclass():
            return _as(alias(self), cls)

    @staticmethod
    def _make_subclass(cls: Any, data: Tensor, require_grad: bool = False) -> Any:
        """A leaf of class ``cls`` on the memory of ``data``."""
        _check_class(cls)
        with DisableTorchFunctionSubclass():
            return _as(data.detach(), cls).requires_grad_(require_grad)


def _check_class(cls: Any) -> None:
    if not (isinstance(cls, type) and issubclass(cls, Subclassing)):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your class "
            "inherits from Tensor."
        )


def _as(t: Tensor, cls: type) -> Any:
    """A tensor that nobody else has seen as an object of ``cls``: the same state in another object."""
    overrides.seen = overrides.seen or overrides.overrides(cls)
    made: Any = object.__new__(cls)
    for name in SLOTS:
        setattr(made, name, getattr(t, name))
    return made


def _converted(result: Any, cls: type) -> Any:
    """The tensors in ``result`` as objects of ``cls``."""
    if cls in overrides._plain:
        return result
    if isinstance(result, Subclassing):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, tuple | list):
        parts = [_converted(r, cls) for r in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


def _from_data(data: tuple[Any, ...], device: Any) -> Tensor:
    from .creation import empty, tensor
    from .device import CPU
    from .device import device as Device
    from .dtype import get_default_dtype

    if device is not None and (kind := Device(device).type) != "cpu":
        raise RuntimeError(f"legacy constructor expects device type: cpu but device type: {kind} was passed")
    if all(hasattr(d, "__index__") and not foreign.is_pytorchs(type(d)) for d in data):
        return empty(*data or (0,), device=CPU)  # a `with device(...)` says nothing here, as in PyTorch
    if len(data) > 1 or isinstance(data[0], int | float | complex):
        raise TypeError(f"new(): data must be a sequence (got {type(data[0]).__name__})")
    return tensor(data[0], dtype=get_default_dtype(), device=CPU)


@functools.cache
def _unwrapped() -> list[Any]:
    return [getattr(overrides._plain[0], name).__get__ for name in _UNWRAPPED_RESULTS]


def parameter_of(data: Any, requires_grad: bool) -> Any:
    """A parameter of the class of ``data``, which its own methods make; on the same memory if they are the usual ones."""
    made = by_user(by_user(data, "detach"), "requires_grad_", requires_grad)
    if type(made) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an instance of "
            f"the same type, but return type {type(made).__name__} was found instead. To use the type as a Parameter, please "
            "correct the detach() semantics defined by its __torch_dispatch__() implementation."
        )
    made._is_param = True
    return made


def by_user(t: Any, name: str, *args: Any) -> Any:
    """``t.name(*args)`` as if the user had called it, so that the class of ``t`` is asked."""
    method, inherited = getattr(type(t), name), getattr(overrides._plain[0], name)
    asked = overloaded((t,)) if mode.overriding and getattr(method, "__wrapped__", None) is inherited else []
    return dispatch(inherited, asked, (t, *args), {}) if asked else method(t, *args)


# ----- wrapping what is inherited -----


@functools.cache
def public_attributes() -> dict[str, Any]:
    """Methods and properties of tensors that can be overridden."""
    found: dict[str, Any] = {}
    for part in reversed(overrides._plain[0].__mro__[:-1]):
        for name, attribute in vars(part).items():
            hidden = name.startswith("_") and not name.startswith("__") and name not in _PRIVATE
            if isinstance(attribute, FunctionType | property) and not hidden and name not in _NEVER:
                found[name] = attribute
    return found


def _adopt(cls: type) -> None:
    """Make the attributes that ``cls`` inherits from Tensor ask, and its objects refuse to be taken for plain tensors."""
    overrides.seen = overrides.seen or not cls.__module__.startswith(
        f"{__package__}."
    )  # of these the first object counts
    of_tensor = overrides._plain[0].__mro__
    for name, attribute in public_attributes().items():
        owner = next(k for k in cls.__mro__ if name in vars(k))
        if (
            owner in of_tensor and attribute not in overrides.operators
        ):  # these are ops, and a reflected one must stay as it is
            setattr(cls, name, _wrapped(name, attribute))
    cls._in = property(_plain_only)  # type: ignore[attr-defined]  # set at run time, as on Tensor


def _plain_only(t: Any) -> Any:
    """The buffer, for an op that is not overridden."""
    if mode.overriding and overrides.overrides(type(t)):
        raise Overridden
    return t._a


def _wrapped(name: str, attribute: Any) -> Any:
    if isinstance(attribute, property):
        return _property(attribute)
    if name == "__iter__":
        return _iteration(attribute)
    function = overrides.canonical.get(attribute, attribute)
    return _reflected(name, function) if name in _REFLECTED else _method(name, function)


def _asked(values: tuple[Any, ...]) -> list[Any]:
    """Who overrides what the user does with ``values``; nobody where the engine does it."""
    return overloaded(values) if mode.overriding and _getframe(2).f_code.co_filename not in INTERNAL else []


def _method(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    how = ask if name in _OPERATORS else dispatch  # Python asks on where an operator does not know
    of_operands = name in _OPERATORS and name.strip("_") not in ASKING_FIRST

    @functools.wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if of_operands and not all(map(is_operand, args)):
            return NotImplemented
        asked = _asked((self, *args, *kwargs.values()))
        return how(function, asked, (self, *args), kwargs) if asked else function(self, *args, **kwargs)

    return call


_OPERATORS = frozenset(f"__{n}__" for n in (
    "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "mod", "floordiv", "lshift", "rshift", "iadd", "isub", "imul",
    "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor", "ilshift", "irshift",
))  # fmt: skip
ASKING_FIRST = frozenset(("eq", "floordiv", "ipow", "pow", "rsub"))
"""Operators that PyTorch has in Python: classes that override are asked whatever the other operand is, of the rest only where that
is a tensor or a number."""


def is_operand(value: Any) -> bool:
    """Whether an operator of a tensor knows ``value``: Python asks other operands themselves."""
    return isinstance(value, Subclassing | Number | np.generic) or overrides.overrides(type(value))


_REFLECTED = {
    f"__r{n}__": f"__{n}__"
    for n in ["truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift", "and", "or", "xor"]
}


def _reflected(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """An operator of a right operand: Python asks it first where the left one is of a base class, which is not meant."""
    of_operands = name in ("__rand__", "__ror__", "__rxor__")

    @functools.wraps(function)
    def call(self: Any, other: Any) -> Any:
        if of_operands and not is_operand(other):
            return NotImplemented
        if isinstance(other, Subclassing):
            return getattr(other, _REFLECTED[name])(self)
        asked = _asked((self, other))
        return ask(function, asked, (self, other), {}) if asked else function(self, other)

    return call


def _iteration(function: Callable[..., Any]) -> Callable[..., Any]:
    """``for row in x`` asks for ``x.dim()`` and ``x.unbind(0)``."""
    dim, unbind = (public_attributes()[name] for name in ("dim", "unbind"))

    @functools.wraps(function)
    def call(self: Any) -> Any:
        asked = _asked((self,))
        if not asked or not dispatch(dim, asked, (self,), {}):
            return function(self)
        return iter(dispatch(unbind, asked, (self, 0), {}))

    return call


def _property(raw: property) -> property:
    def get(self: Any) -> Any:
        asked = _asked((self,))
        return dispatch(raw.__get__, asked, (self,), {}) if asked else raw.__get__(self)

    def put(self: Any, value: Any) -> None:
        asked = _asked((self, value))
        if asked:
            dispatch(raw.__set__, asked, (self, value), {})
        else:
            raw.__set__(self, value)

    return property(get, put, raw.__delete__, raw.__doc__)
