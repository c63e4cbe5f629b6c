"""What the generated ops do off the fast path: mixed dtypes, other operands than tensors and numbers, cuts."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .. import events, several
from ..backward import QUIET
from ..device import beside
from ..dtype import get_default_dtype, result_type
from ..errors import raise_if
from ..foreign import is_pytorchs
from ..grad_mode import mode, quiet_no_grad
from ..node import Node
from ..overrides import Overridden, ask_all, from_op, operators, overloaded, overrides
from ..scalars import check_fits, wrapped, written
from ..signatures import refusal
from ..sites import caller
from ..subclass import ASKING_FIRST, is_operand
from ..tensor import Tensor, wrap
from ..view import lost_history
from .after import after, only_inference
from .explain import bool_subtraction, explain, wrong_number
from .kernel_names import not_implemented
from .mixed_devices import beside_numbers, told_at_once, wrong_devices
from .other_dtype import casting, computed_in
from .refuse import refuse_bools

__all__ = [
    "after",
    "as_array",
    "beside_number",
    "converted",
    "cut",
    "failed",
    "floated",
    "matmul",
    "mixed",
    "own",
    "refuse_bools",
    "refuse_kind",
    "weak",
]


def name_of(function: Callable[..., Any]) -> str:
    """The name of an op, which its function may have as that of an operator."""
    return function.__name__.strip("_")


def mixed(function: Callable[..., Tensor], names: list[str], arguments: dict[str, Any], floats: bool = False) -> Tensor:
    """Call ``function`` with its tensors ``names`` cast to their common dtype (differentiably).

    ``floats``: integers are computed in the default dtype. Half precision is multiplied with a 0-d tensor of another dtype,
    and divided by it, as with a number: in single.
    """
    operands = [arguments[n]._a for n in names]
    bool_subtraction(name_of(function), *(a.dtype for a in operands))
    dtype = result_type([(a.dtype, 2 if a.ndim else 1) for a in operands])
    if floats and dtype.kind in "biu":
        dtype = get_default_dtype()
    half = dtype.char == "e" and name_of(function) in _IN_SINGLE and not operands[-1].ndim
    wide = np.dtype(np.float32) if half else dtype
    for name, array in zip(names, operands, strict=True):
        if array.dtype != wide:
            arguments[name] = arguments[name].to(wide)
    result = function(**arguments)
    if half:
        result._a = result._a.astype(dtype)
        if result._fn is not None:
            computed_in(result._fn, wide)
    return result


_IN_SINGLE = frozenset(("mul", "div"))
"""Ops of half precision in which PyTorch takes a number as one of single; beside others it is rounded first."""


def converted(function: Callable[..., Tensor], names: tuple[str, ...], arguments: dict[str, Any]) -> Tensor:
    """Call ``function`` with the arguments ``names`` made tensors or Python numbers.

    ``NotImplemented`` when one is neither, so that Python asks the other operand.
    """
    if any(isinstance(arguments[name], np.ndarray) for name in names):
        return function(**_as_numpy_would(name_of(function), arguments))
    if function in operators and mode.overriding and overloaded(arguments.values()):
        if name_of(function) not in ASKING_FIRST and not all(is_operand(arguments[name]) for name in names):
            return NotImplemented
        raise Overridden
    for name in names:
        value = arguments[name]
        if isinstance(value, numbers.Number) and not isinstance(value, int | float | complex):
            arguments[name] = value.item() if isinstance(value, np.generic) else float(value)  # type: ignore[arg-type]  # Fraction and its like
        elif isinstance(value, complex):
            arguments[name] = _complex(value, arguments.values())
        elif isinstance(value, bool) and name_of(function) in ("sub", "rsub"):
            arguments[name] = wrap(np.asarray(value))  # refused
        elif isinstance(value, np.generic | int | float):
            arguments[name] = value.item() if isinstance(value, np.generic) else _plain(value)
        elif not isinstance(value, Tensor):
            if overrides(type(value)):
                raise Overridden
            return NotImplemented
    return function(**arguments)


def _plain(value: Any) -> Any:
    """An instance of a subclass of a number type as that number."""
    kinds: tuple[Any, ...] = (bool, int, float)
    return next(kind(value) for kind in kinds if isinstance(value, kind))


def _complex(value: complex, others: Iterable[Any]) -> Tensor:
    """A complex number as a tensor: it makes all operands complex, in the precision of the tensors."""
    tensor = next(t for t in others if isinstance(t, Tensor))
    events.keep_on(events.COMPLEX)
    number = np.asarray(value, result_type([(tensor.dtype, 2), (np.dtype(np.complex64), 0)]))
    return wrap(beside(number, tensor._a))


def failed(function: Callable[..., Tensor], error: Exception, tensors: dict[str, Any], plain: dict[str, Any]) -> Tensor:
    """Raise ``error`` of ``function`` in PyTorch's words.

    Where it only says that a number overflowed, was divided by zero or is none (a NumPy warning made an error, or
    ``np.seterr``), call ``function`` again without asking for that: PyTorch's results are silently infinite or NaN.
    """
    if isinstance(error, several.Elsewhere):
        if told_at_once(name_of(function)):
            raise_if(wrong_devices(name_of(function), tensors))
        with several.home((*tensors.values(), *plain.values())):
            return function(**tensors, **plain)
    if mode.overriding and (
        isinstance(error, Overridden)
        or overloaded(tensors.values())
        or any(is_pytorchs(type(v)) for v in plain.values())
    ):
        return from_op(function, error, (*tensors.values(), *plain.values()))
    if any(isinstance(v, Tensor) and not v.ndim for v in plain.values()):
        return function(**tensors, **{n: v.item() if isinstance(v, Tensor) else v for n, v in plain.items()})
    if isinstance(error, AttributeError) and function in operators and _has_array(tensors):
        return function(**_as_numpy_would(name_of(function), tensors), **plain)
    if isinstance(error, RuntimeWarning | FloatingPointError) and np.geterr() != QUIET:
        with np.errstate(**QUIET):
            return function(**tensors, **plain)
    if events.special & events.INFERENCE and mode.grad and only_inference(name_of(function), tensors.values()):
        with quiet_no_grad():
            return function(**tensors, **plain)
    if isinstance(error, OverflowError):
        fitting = _fitting(name_of(function), {**tensors, **plain})
        if fitting is not None:
            return function(**fitting)
    if name_of(function) == "mm" and not isinstance(tensors["mat2"], Tensor):
        return NotImplemented  # the function checks: this was the operator
    moved = beside_numbers(name_of(function), tensors)
    if moved is not None:
        return function(**moved, **plain)
    raise_if(_refused(function, {**tensors, **plain}))
    raise_if(lost_history((*tensors.values(), *plain.values())))
    wrong = wrong_number(name_of(function), plain)
    if wrong is not None:
        raise wrong from None
    try:
        raise explain(name_of(function), error, **tensors) from None
    finally:
        del error  # it may be what is raised, and would hold itself through this frame, and so the operands


def _refused(function: Callable[..., Tensor], given: dict[str, Any]) -> Exception | None:
    """What PyTorch says about the types of the arguments, if ``function`` is public as it is; others have looked at them."""
    from . import BARE

    if name_of(function) not in BARE or function in operators:
        return None
    order = inspect.signature(function).parameters
    return refusal(name_of(function), tuple(given[n] for n in order if n in given), {})


_ADAPTS = frozenset(("pow", "clamp", "clamp_min", "clamp_max", "where", "fill", "masked_fill", "index_put"))
"""Ops in which a number is cast to the dtype of the tensor and must fit; beside other ops, and as a base, it wraps around."""


def _fitting(op: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """``arguments`` with the integers that NumPy refuses for the dtype of the tensors as PyTorch takes them; ``None`` if none."""
    dtype = next((v._a.dtype for v in arguments.values() if isinstance(v, Tensor)), None)
    if dtype is None or dtype.kind not in "iu":
        return None
    exponent = arguments["exponent"] if op == "pow" else None
    if type(exponent) is int and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    cast = written if op in _ADAPTS and not isinstance(exponent, Tensor) else wrapped
    new = {n: cast(v, dtype) if type(v) is int else v for n, v in arguments.items()}
    return new if any(new[n] is not v and new[n] != v for n, v in arguments.items() if type(v) is int) else None


def _as_numpy_would(op: str, operands: dict[str, Any]) -> dict[str, Any]:
    """``operands``, arrays among them, as tensors in the dtype that NumPy computes in: PyTorch leaves operators to it then.

    Arrays are copied: they may be saved, and have no version that would tell of a write.
    """
    dtype = np.result_type(*(v.dtype for v in operands.values() if isinstance(v, Tensor | np.ndarray)))
    if op == "div" and dtype.kind in "biu":
        dtype = np.dtype(np.float64)
    return {
        n: wrap(v.astype(dtype)) if isinstance(v, np.ndarray) else v.to(dtype) if isinstance(v, Tensor) else v
        for n, v in operands.items()
    }


def _has_array(tensors: dict[str, Any]) -> bool:
    return any(isinstance(v, np.ndarray) for v in tensors.values())


_ARRAYS: set[type] = set()
"""The classes of arrays that ops have made."""


def as_array(value: Any, *operands: Any) -> Any:
    """A NumPy scalar, which ufuncs make of 0-d arrays, as an array again; arrays of other libraries as they are.

    :class:`TypeError` for a tensor, which comes of one given for a number: :func:`failed` calls again with the number. And for an
    array of a device that an op has computed with one of NumPy's among its ``operands``: CuPy takes such as indices, and as what is
    put at them, and copies them there.
    """
    if isinstance(value, np.generic):
        return np.asarray(value)
    if isinstance(value, Tensor):
        raise TypeError("a tensor was given for a number")
    if type(value) not in _ARRAYS:
        if is_pytorchs(type(value)):  # NumPy leaves to it what it computes with one
            raise TypeError("a tensor of PyTorch was given for a number")
        _ARRAYS.add(type(value))
    for operand in operands:
        if type(operand) is np.ndarray and type(value) is not np.ndarray:
            raise TypeError("an array on the host among operands on a device")
    return value


def matmul(self: Tensor, other: Any) -> Tensor:
    """``@`` for everything but two matrices of one dtype."""
    from .matrix import matmul as general

    if not isinstance(other, Tensor):
        return ask_all(general, self, other)
    return general(self, other)


def floated(tensor: Tensor) -> Tensor:
    """An integer or bool ``tensor`` in the default dtype, that of the results of floating functions of it."""
    return tensor.to(get_default_dtype())


def refuse_kind(op: str, dtype: np.dtype[Any]) -> None:
    """PyTorch computes ``op`` of floating and complex tensors alone."""
    raise not_implemented(op, dtype)


def own(indices: tuple[Any, ...]) -> tuple[Any, ...]:
    """Index arrays that nobody else can write to: they have no version that would tell."""
    return tuple(i.copy() if hasattr(i, "copy") else i for i in indices)


def beside_number(
    op: str, value: Callable[..., Any], operands: tuple[Any, ...], tensor: Any, cls: type[Node]
) -> tuple[Any, type[Node]]:
    """What an op of integers, bools or half precision and a number gives, ``value(*operands)``, and the class of its node.

    Of half precision PyTorch computes products and quotients in single, forward and backward, and rounds the result.
    """
    half = tensor.dtype
    if half.char != "e":
        return weak(op, value(*operands), tensor), cls
    if cls.op_name == "PowBackward0":
        raise_if(check_fits(operands[-1], half))
    if op not in _IN_SINGLE:
        return value(*operands), cls
    single = np.dtype(np.float32)
    r = value(*[x.astype(single) if x is tensor else x for x in operands]).astype(half)
    plain: Any = cls
    made: type[Node] = casting(plain, single, half)
    return r, made


def weak(op: str, result: Any, tensor: Any) -> Any:
    """A float64 ``result`` of an integer tensor and a number in the default dtype; powers of bools in int64."""
    bool_subtraction(op, tensor.dtype)
    if tensor.dtype.kind in "biu" and result.dtype == np.float64:
        return result.astype(get_default_dtype())
    return result.astype(np.int64) if tensor.dtype.kind == "b" and result.dtype == np.int8 else result


def cut(tensors: tuple[Tensor, ...]) -> None:
    """Report that the graph ends at these inputs because gradient mode is off (or the result has no gradient)."""
    sink = events.sink
    if sink is None or mode.grad or mode.custom is not None:
        return
    site = caller()
    for t in tensors:
        if t._rg and t.requires_grad:
            sink.graph_cut(t, "no_grad", *site)


def swapped(matrix: Any) -> bool:
    """Whether a matrix lies column by column in memory, as a transposed weight does."""
    flags = matrix.flags
    return bool(flags.f_contiguous and not flags.c_contiguous)
