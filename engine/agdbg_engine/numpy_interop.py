"""NumPy and tensors: arrays that share memory with tensors, and NumPy's functions on tensors.

A ufunc that is an op of the engine under another name is that op: ``np.exp(x)`` records a node and returns a tensor, as does
``array + x``. Any other ufunc is computed by NumPy where no gradient is wanted, and refused where one is.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from . import events
from .grad_mode import mode
from .sites import caller, user_stacklevel
from .storage import show

if TYPE_CHECKING:
    from .tensor import Tensor

_OPS = {
    "subtract": "sub", "multiply": "mul", "divide": "div", "power": "pow", "negative": "neg", "absolute": "abs",
    "fabs": "abs", "rint": "round", "conjugate": "conj_physical", "equal": "eq", "not_equal": "ne", "less": "lt",
    "less_equal": "le", "greater": "gt", "greater_equal": "ge", "invert": "bitwise_not",
    "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
}  # fmt: skip
"""NumPy's names of ops where they are not PyTorch's."""

_OTHER_MEANING = frozenset(("remainder", "fmod", "floor_divide", "divmod", "gcd", "lcm"))
_REDUCTIONS = {
    "add": "sum", "maximum": "amax", "minimum": "amin", "multiply": "prod", "logical_and": "all", "logical_or": "any",
}  # fmt: skip
_NUMBERS_FIRST = frozenset(("add", "sub", "mul", "div", "pow"))
"""Ops whose first operand may be a number."""
_EXACT = frozenset(("ldexp", "bitwise_left_shift", "bitwise_right_shift"))
"""Ops whose operands need not be of one dtype."""
_NO_NUMBERS = frozenset((
    "maximum", "minimum", "matmul", "hypot", "atan2", "logaddexp", "logaddexp2", "fmax", "fmin", "nextafter", "ldexp", "heaviside",
    "logical_and", "logical_or", "logical_xor",
))  # fmt: skip


class NumpyInterop:
    """The part of :class:`~agdbg_engine.tensor.Tensor` that NumPy sees."""

    __slots__ = ()
    __array_priority__ = 1000

    def numpy(self: Any, *, force: bool = False) -> Any:
        """The buffer as a NumPy array sharing the memory; CPU tensors that do not require grad only.

        With ``force`` the graph is left behind without complaint, and a copy is made where the memory cannot be shared.
        """
        if not force and mode.grad and self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if force and events.sink is not None and self.requires_grad:
            events.sink.graph_cut(self, "numpy", *caller())
        array = self._a
        if isinstance(array, np.ndarray):
            show(self)
            return array
        if force:
            return array.get()
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
            "memory first."
        )

    def resolve_neg(self: Any) -> Any:
        """This tensor: nothing is negated late here."""
        return self

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        changes = dtype is not None and np.dtype(dtype) != array.dtype
        if changes and copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return array.astype(dtype) if changes else array.copy() if copy else array

    def __dlpack__(self: Any, **kwargs: Any) -> Any:
        """The memory for other libraries, as ``torch.tensor`` and ``numpy.from_dlpack`` ask for it; none that requires grad."""
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        show(self)
        return self._a.__dlpack__(**kwargs)

    def __dlpack_device__(self: Any) -> tuple[int, int]:
        """The kind of device on which the memory is, and its number."""
        return self._a.__dlpack_device__()

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """What NumPy computed from tensors, as a tensor."""
        from .creation import numbers

        return from_array(numbers(np.asarray(array)))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """``ufunc`` or a method of it on tensors: as an op, else by NumPy if no gradient is wanted."""
        kwargs = {k: v for k, v in kwargs.items() if not _is_default(k, v)}
        if method == "__call__" and not kwargs:
            op = _op(ufunc)
            if op is not None:
                return op(*_operands(op.__name__, inputs))
        if method == "reduce" and kwargs.keys() <= {"axis", "keepdims"}:
            reduced = _reduced(ufunc, inputs[0], **kwargs)
            if reduced is not None:
                return reduced
        return _by_numpy(ufunc, method, inputs, kwargs)


def _is_default(name: str, value: Any) -> bool:
    return (name == "where" and value is True) or (name in ("dtype", "out") and value is None)


def _op(ufunc: Any) -> Any:
    from .ops import FUNCTIONS

    if not isinstance(getattr(np, ufunc.__name__, None), np.ufunc) or ufunc.__name__ in _OTHER_MEANING:
        return None
    return FUNCTIONS.get(_OPS.get(ufunc.__name__, ufunc.__name__))


def _operands(op: str, inputs: tuple[Any, ...]) -> list[Any]:
    """``inputs`` as an op wants them: arrays as tensors of their own, NumPy's numbers as Python's."""
    from .creation import numbers
    from .tensor import wrap

    made: list[Any] = []
    arrays = any(isinstance(x, np.ndarray) for x in inputs)
    common = np.result_type(*(x.dtype for x in inputs if isinstance(x, NumpyInterop | np.ndarray))) if arrays else None  # type: ignore[union-attr]  # of Tensor
    for i, x in enumerate(inputs):
        if isinstance(x, np.generic):
            x = x.item()
        if isinstance(x, int | float | complex):
            takes_numbers = op in _NUMBERS_FIRST if i == 0 else op not in _NO_NUMBERS
            made.append(x if takes_numbers else _number(x, inputs, wrap))
        else:
            x = x if isinstance(x, NumpyInterop) else wrap(numbers(np.array(x)))
            made.append(x if common is None or op in _EXACT else x.to(common))  # type: ignore[attr-defined]  # of Tensor
    return made


def _number(x: Any, inputs: tuple[Any, ...], wrap: Any) -> Tensor:
    """A number as a 0-d tensor in the dtype of the tensor beside it, if that holds it."""
    other = next(t for t in inputs if isinstance(t, NumpyInterop))
    dtype = np.result_type(other._a.dtype, x)  # type: ignore[attr-defined]  # of Tensor
    return wrap(np.asarray(x, dtype))


def _reduced(ufunc: Any, x: Any, axis: Any = 0, keepdims: bool = False) -> Any:
    """A reduction that is an op; ``None`` where it is none."""
    from .ops import METHODS

    op = METHODS.get(_REDUCTIONS.get(ufunc.__name__, ""))
    if op is None or not isinstance(x, NumpyInterop):
        return None
    if axis is None:
        axis = tuple(range(x._a.ndim))  # type: ignore[attr-defined]  # of Tensor
    return op(x, axis, keepdims)


def _by_numpy(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Computed by NumPy on the buffers, results as tensors; refused where a tensor requires grad."""
    from .ops.overlapping import check_partial
    from .tensor import check_inplace

    out = kwargs.get("out", ())
    if method == "at" and isinstance(inputs[0], NumpyInterop):
        raise TypeError(f"np.{ufunc.__name__}.at() cannot write to a Tensor; use index_put_(..., accumulate=True)")
    for t in (*inputs, *out):
        if isinstance(t, NumpyInterop) and t.requires_grad:  # type: ignore[attr-defined]  # of Tensor
            raise _refusal(ufunc, method, kwargs)
    written: list[Any] = [t for t in out if isinstance(t, NumpyInterop)]
    for t in written:
        check_inplace(t, inputs)
        check_partial(t, inputs)
    if out:
        kwargs = {**kwargs, "out": tuple(_array(t) for t in out)}
    if "where" in kwargs:
        kwargs = {**kwargs, "where": _array(kwargs["where"])}
    result = getattr(ufunc, method)(*(_array(x) for x in inputs), **kwargs)
    for t in written:
        t._bump(f"np.{ufunc.__name__}", None, *caller())
    if out:
        return out[0] if len(out) == 1 else out
    return tuple(map(_wrapped, result)) if isinstance(result, tuple) else _wrapped(result)


def _array(x: Any) -> Any:
    return x._a if isinstance(x, NumpyInterop) else x  # type: ignore[attr-defined]  # of Tensor


def _wrapped(result: Any) -> Any:
    from .tensor import wrap

    return wrap(np.asarray(result)) if isinstance(result, np.ndarray | np.generic) else result


def _refusal(ufunc: Any, method: str, kwargs: dict[str, Any]) -> Exception:
    if method == "__call__" and not kwargs:
        return RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.\n"
            f"  np.{ufunc.__name__} is no op of the engine, so it would have no gradient"
        )
    how = ufunc.__name__ + ("" if method == "__call__" else f".{method}")
    given = ", ".join(f"{k}=" for k in kwargs)
    return TypeError(
        f"np.{how}({given}) has no gradient: a tensor among its operands requires grad. Use the op without it, or detach()"
    )


# ----- arrays as tensors -----

_warned = False


def from_array(array: Any) -> Tensor:
    """A tensor on the memory of ``array``; PyTorch's errors for arrays that cannot be one.

    A read-only array is warned about, once: writes through the tensor fail here (PyTorch lets them happen).
    """
    global _warned
    from .tensor import wrap

    if any(s < 0 for s in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently "
            "supported. (You can probably work around this by making a copy of your array  with array.copy().) "
        )
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is currently "
            "not supported."
        )
    if not array.flags.writeable and not _warned:
        _warned = True
        warnings.warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing to this "
            "tensor will result in undefined behavior. You may want to copy the array to protect its data or make it writable "
            "before converting it to a tensor. This type of warning will be suppressed for the rest of this program.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    return wrap(array)
