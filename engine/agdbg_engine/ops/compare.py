"""Ops without a gradient: comparisons, logic, tests, positions. A path through one of them ends there (a *cut*)."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import events, several
from ..device import beside
from ..dtype import get_default_dtype, result_type, scalar_type
from ..errors import raise_if
from ..overrides import Overridden, ask_all, canonical
from ..scalars import wrapped
from ..several import at_home
from ..sites import caller
from ..tensor import Tensor, wrap
from .explain import broadcast_error, explain, not_a_tensor, shape_error
from .mixed_devices import numbers_moved, refuse_apart, with_numbers_beside
from .refuse import refuse_complex
from .shape import Dims, one_dim, some_dims

Operator = Callable[[Any, Any], Tensor]

_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
"""Those of which an object that is no tensor sees the method, as operators too."""


def no_gradient(operands: tuple[Any, ...]) -> None:
    """Report that the graph ends at these ``operands`` of an op whose result is no floating number."""
    _cut("integer", *operands)


def _cut(how: str, *operands: Any) -> None:
    sink = events.sink
    if sink is None:
        return
    for x in operands:
        if isinstance(x, Tensor) and x._rg and x.requires_grad:
            sink.graph_cut(x, how, *caller())


# ----- of two -----


def _operator(name: str, ufunc: Any) -> Operator:
    """The form for Python's operators: ``NotImplemented`` for what is neither tensor nor number."""

    logical = name.startswith("logical")
    refusing = "c" if name in ("lt", "le", "gt", "ge") else "fc" if name.startswith("bitwise") else ""

    def compare(self: Any, other: Any) -> Tensor:
        if isinstance(other, Tensor):
            try:
                operand = other._in
            except several.Elsewhere:
                with several.home((self, other)):
                    return compare(self, other)
            except Overridden:
                return ask_all(canonical.get(compare, compare), self, other)
        elif isinstance(other, complex) and not logical:
            number = np.asarray(other, result_type([(self._a.dtype, 2), (np.dtype(np.complex64), 0)]))
            operand = beside(number, self._a)
        elif isinstance(other, int | float | np.generic):
            operand = other
        else:
            return ask_all(getattr(Tensor, name) if name in _COMPARISONS else compare, self, other)
        try:
            mine = self._in
            if getattr(operand, "dtype", None) is not mine.dtype:
                mine, operand = in_common_dtype(mine, operand)
            if refusing and mine.dtype.kind in refusing:
                _refuse(name, mine.dtype)
            out = wrap(ufunc(mine, operand))
        except several.Elsewhere:
            with several.home((self, other)):
                return compare(self, other)
        except Exception as error:
            if (moved := numbers_moved({"self": self, "other": other})) is not None:
                return compare(**moved)
            if isinstance(other, Tensor) and self._a.dtype == other._a.dtype:  # PyTorch looks at the sizes first
                raise_if(broadcast_error([self._a.shape, other._a.shape]))
            raise explain(name, error, self=self, other=other) from None
        if events.sink is not None:
            _cut("integer", self, other)
        return out

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = f"Elementwise {name} of a tensor and another or a number; no gradient."
    return compare


def reflected(operator: Operator) -> Operator:
    """The form for Python's reflected operators, which people also call by hand."""

    def compare(self: Any, other: Any) -> Tensor:
        if not isinstance(self, Tensor):
            raise TypeError(f"descriptor of 'Tensor' objects doesn't apply to a '{type(self).__name__}' object")
        return operator(self, other)

    compare.__name__ = compare.__qualname__ = operator.__name__
    compare.__doc__ = operator.__doc__
    return compare


def named(name: str, operator: Operator) -> Operator:
    """The form for calls: an error where the operator says ``NotImplemented``; logic takes no numbers."""
    logical = name.startswith("logical")

    def compare(self: Any, other: Any) -> Tensor:
        if (
            not isinstance(self, Tensor)
            and isinstance(other, Tensor)
            and name.startswith("bitwise")
            and isinstance(self, int | float | complex)
        ):
            self, other = other, self  # of bits alone, and each of their functions is symmetric
        if logical and not isinstance(self, Tensor):
            raise not_a_tensor(name, "self", self, 1)
        if not isinstance(self, Tensor):
            kinds = f"{type(self).__name__}, {type(other).__name__}"
            raise TypeError(
                f"{name}() received an invalid combination of arguments - got ({kinds}), but expected one of:"
            )
        if logical and not isinstance(other, Tensor):
            raise not_a_tensor(name, "other", other, 2)
        out = operator(self, other)
        if out is NotImplemented:
            raise not_a_tensor(name, "other", other, 2)
        return out

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = operator.__doc__
    return compare


def in_common_dtype(a: Any, b: Any) -> tuple[Any, Any]:
    """Two arrays, or an array and a number, in their common dtype as PyTorch sees it, where 0-d arrays and numbers count less."""
    if not isinstance(b, np.generic) and hasattr(b, "dtype"):
        if a.dtype == b.dtype:
            return a, b
        dtype = result_type([(x.dtype, 2 if x.ndim else 1) for x in (a, b)])
        return _cast(a, dtype), _cast(b, dtype)
    number = b.item() if isinstance(b, np.generic) else b
    kind = type(number)
    other = np.dtype(np.bool_ if kind is bool else np.int64 if issubclass(kind, int) else get_default_dtype())
    dtype = result_type([(a.dtype, 2), (np.dtype(np.complex64) if kind is complex else other, 0)])
    if kind is int:
        number = wrapped(number, dtype)
    return _cast(a, dtype), number


def _cast(x: Any, dtype: np.dtype[Any]) -> Any:
    return x if x.dtype == dtype else x.astype(dtype)


def _refuse(name: str, dtype: np.dtype[Any]) -> None:
    """Complex numbers have no order, and only integers and bools have bits."""
    raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{scalar_type(dtype)}'")


def logical(ufunc: Any) -> Callable[..., Any]:
    """``ufunc`` of truth values; CuPy's do not take complex numbers."""

    def of_truths(*operands: Any) -> Any:
        return ufunc(*(x != 0 if hasattr(x, "dtype") and x.dtype.kind == "c" else x for x in operands))

    return of_truths


OPERATORS: dict[str, Operator] = {
    name: _operator(name, ufunc)
    for name, ufunc in (
        ("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal), ("gt", np.greater),
        ("ge", np.greater_equal), ("logical_and", logical(np.logical_and)), ("logical_or", logical(np.logical_or)),
        ("logical_xor", logical(np.logical_xor)),
    )
}  # fmt: skip
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    OPERATORS[_name] = _operator(_name, getattr(np, _name))
PAIRWISE: dict[str, Operator] = {name: named(name, operator) for name, operator in OPERATORS.items()}


# ----- of one -----


def _test(name: str, ufunc: Any) -> Callable[[Tensor], Tensor]:
    @at_home
    def test(self: Tensor) -> Tensor:
        if events.sink is not None:
            _cut("integer", self)
        return wrap(ufunc(self._a))

    test.__name__ = test.__qualname__ = name
    test.__doc__ = f"Elementwise {name}; no gradient."
    return test


isnan = _test("isnan", np.isnan)
isinf = _test("isinf", np.isinf)
isfinite = _test("isfinite", np.isfinite)
logical_not = _test("logical_not", logical(np.logical_not))


@at_home
def bitwise_not(self: Tensor) -> Tensor:
    """All bits flipped; integers and bools only."""
    if self.dtype.kind not in "iub":
        raise NotImplementedError(f"\"bitwise_not_cpu\" not implemented for '{scalar_type(self.dtype)}'")
    return wrap(np.invert(self._a))


def invert(self: Tensor) -> Tensor:
    """The operator ``~``."""
    if self.dtype.kind not in "iub":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


# ----- along dimensions -----


def argmax(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Position of the largest element (of the flattened tensor without ``dim``); the first of ties."""
    return _position("argmax", np.argmax, self, dim, keepdim)


def argmin(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Position of the smallest element (of the flattened tensor without ``dim``); the first of ties."""
    return _position("argmin", np.argmin, self, dim, keepdim)


@at_home
def _position(op: str, function: Any, x: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    if x.dtype == np.bool_:
        raise RuntimeError(f"{op}(): does not support bool input")
    if x.dtype.kind == "c":
        refuse_complex(op, x.dtype)
    axis = None if dim is None else one_dim(x, dim)
    if axis is None and x._a.size == 0:
        raise shape_error(f"{op}(): Expected reduction dim to be specified for input.numel() == 0.", IndexError)
    if axis is not None and x.ndim and x.shape[axis] == 0:
        raise shape_error(f"{op}(): Expected reduction dim {axis} to have non-zero size.", IndexError)
    _cut("integer", x)
    return wrap(function(x._a, axis=axis if x.ndim else None, keepdims=keepdim))


@at_home
def all(self: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Whether all elements, or all along ``dim``, are true."""
    return _truth(self, self._a.astype(np.bool_).all(axis=_axis(self, dim), keepdims=keepdim))


@at_home
def any(self: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Whether some element, or some along ``dim``, is true."""
    return _truth(self, self._a.astype(np.bool_).any(axis=_axis(self, dim), keepdims=keepdim))


def _truth(x: Tensor, result: Any) -> Tensor:
    """Bools, or bytes of bytes: a habit of PyTorch."""
    return wrap(result.astype(np.uint8) if x.dtype == np.uint8 else result)


def _axis(x: Tensor, dim: Dims) -> Any:
    dims = None if dim is None else some_dims(x, dim)
    return dims if x.ndim else None


@at_home
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements differ by at most ``atol + rtol * |other|``."""
    if input.dtype != other.dtype:
        raise RuntimeError(f"{scalar_type(input.dtype)} did not match {scalar_type(other.dtype)}")
    try:
        input, other = with_numbers_beside(input, other)
        return bool(np.allclose(input._a, other._a, rtol, atol, equal_nan))
    except ValueError as error:
        raise explain("allclose", error, input=input, other=other) from None


@at_home
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shapes and all elements are the same."""
    refuse_apart("equal", input=input, other=other)
    return bool(input.shape == other.shape and builtins.bool((input._a == other._a).all()))
