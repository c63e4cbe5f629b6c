"""Making tensors from data and from nothing; :mod:`.random` makes those of random numbers."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import events
from .arguments import checked
from .backends import on_device, on_host
from .backward import QUIET
from .device import CPU, asked, device_of, module_of, moved, on, resolved
from .dtype import get_default_dtype, is_differentiable, scalar_type
from .errors import class_name, raise_if
from .foreign import arrays, is_pytorchs
from .host_memory import too_big
from .layout import as_they_lie
from .lists_of_tensors import holds_tensors, of_numbers
from .memory_format import order
from .numpy_interop import from_array
from .overrides import overridable
from .pinned_memory import pinnable, pinned
from .scalars import check_data, written
from .several import at_home, copied
from .sites import caller, user_stacklevel
from .storage import show
from .tensor import Tensor, wrap

_TOLD = 64
"""Of how many tensors in a list a sink is told that the graph ends there."""

# ----- from data -----


@functools.partial(checked, name="tensor")
def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A new leaf holding a copy of ``data`` (numbers, nested lists, arrays); Python floats get the default dtype."""
    if isinstance(data, Tensor):
        warnings.warn(copied_instead("torch.tensor"), UserWarning, stacklevel=user_stacklevel())
    return new_leaf(data, dtype, device, requires_grad, pin_memory)


def copied_instead(function: str) -> str:
    """PyTorch's advice to whoever copies a tensor by ``function``."""
    return (
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
        f"sourceTensor.detach().clone().requires_grad_(True), rather than {function}(sourceTensor)."
    )


def new_leaf(data: Any, dtype: Any, device: Any, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """As :func:`tensor`, without advice."""
    if isinstance(data, Tensor):
        _tell_rewrapped((data,))
        array = copied(data._a)
        device = asked(device) or data.device
    elif isinstance(data, np.ndarray | np.generic):
        array = np.array(numbers(data))
    elif on_device(data):
        array = copied(data)
        device = asked(device) or device_of(data)
    elif holds_tensors(data):
        _tell_rewrapped(data)
        array = of_numbers(data, dtype)
    else:
        array = _from_lists(data, dtype)
        if dtype is not None and array.dtype != dtype:
            check_data(array, np.dtype(dtype))
        if dtype is None and array.dtype.kind in "fc" and not hasattr(_first(data), "dtype"):
            real = array.dtype.kind == "f"
            dtype = get_default_dtype() if real else np.promote_types(get_default_dtype(), np.complex64)
    if dtype is not None and array.dtype != dtype:
        with np.errstate(**QUIET):
            array = array.astype(dtype)
    made = leaf(array, device, requires_grad)
    return pinned("tensor", made, True) if pin_memory and on_host(made._a) else made


def _tell_rewrapped(data: Any) -> None:
    """Tell the sink that the graph ends at ``data``, or at the tensors in it: of their values a tensor without history is made."""
    sink = events.sink
    if sink is None or not isinstance(data, list | tuple):
        return
    for each in data[:_TOLD]:
        if isinstance(each, Tensor):
            if each._rg and each.requires_grad:
                sink.graph_cut(each, "rewrap", *caller())
        else:
            _tell_rewrapped(each)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """``data`` as a tensor, sharing the memory of arrays where possible; those of CuPy stay where they are."""
    data = arrays(data) if is_pytorchs(type(data)) else data
    if on_device(data):
        data = wrap(data)
        if data.dtype.kind == "c":
            events.keep_on(events.COMPLEX)
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=asked(device))
    if not isinstance(data, np.ndarray):
        return tensor(data, dtype=dtype, device=device)
    array = numbers(data)
    made = from_array(array if dtype is None else np.asarray(array, dtype))
    if made._a.dtype == array.dtype:
        show(made)
    return made.to(device=resolved(device))


def from_numpy(array: Any) -> Tensor:
    """A tensor on the memory of ``array``: writes to one show in the other, without a version bump."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {class_name(array)})")
    made = leaf(from_array(np.asarray(numbers(array)))._a, CPU, False)  # of a memmap its memory
    show(made)
    return made


def leaf(array: Any, device: Any, requires_grad: bool) -> Tensor:
    """A tensor on ``array``, or on a copy of it on another ``device``; gradients only for floating and complex dtypes."""
    target = resolved(device)
    t = wrap(array if target is CPU and type(array) is np.ndarray else moved(array, target))
    if array.dtype.kind == "c":
        events.keep_on(events.COMPLEX)
    if requires_grad:
        if not is_differentiable(array.dtype):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        t._set_requires_grad(True)
    return t


def numbers(array: Any) -> Any:
    """``array``, whose dtype is one of tensors; PyTorch's error when it is not."""
    if array.dtype.kind not in "biufc":
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{array.dtype.type.__name__}. The only supported types are: float64, float32, "
            "float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool."
        )
    return array


def _from_lists(data: Any, dtype: Any) -> Any:
    """Nested lists as an array, which will be cast to ``dtype``; PyTorch's errors for what is none."""
    data = arrays(data)
    try:
        array = np.array(data)
    except ValueError:
        raise _refusal(data) from None
    if array.dtype.kind == "u" and dtype is None and not hasattr(_first(data), "dtype"):
        dtype = np.dtype(np.int64)
        check_data(array, dtype)
    if array.dtype.kind == "O" and all(isinstance(x, int | float) for x in array.flat):
        return _of_big_integers(array, dtype)
    if array.dtype.kind not in "biufc":
        raise _refusal(data)
    return array if array.size or array.dtype != np.float64 else array.astype(get_default_dtype())


def _of_big_integers(array: Any, dtype: Any) -> Any:
    """Numbers among which some have more than 64 bits, for ``dtype``: an error unless that is a floating one."""
    check_data(array, np.dtype(np.int64 if dtype is None else dtype))
    return array.astype(np.float64 if np.dtype(dtype).kind != "b" else np.bool_)


def _first(data: Any) -> Any:
    """The first element of nested lists; it tells whether their floats are Python's."""
    while isinstance(data, list | tuple) and data:
        data = data[0]
    return data


def _refusal(data: Any) -> Exception:
    if isinstance(data, str):
        return TypeError("new(): invalid data type 'str'")
    if isinstance(_first(data), str):
        return ValueError("too many dimensions 'str'")
    sizes, level = [], data
    while isinstance(level, list | tuple) and level:
        sizes.append(len(level))
        level = level[0]
    return _misfit(data, sizes, 0) or ValueError(f"could not make a tensor of {data!r}")


def _misfit(data: Any, sizes: list[int], dim: int) -> Exception | None:
    """The first thing in nested lists that is no number or not where the sizes of the first elements want one."""
    kind = type(data).__name__
    if dim == len(sizes):
        if isinstance(data, list | tuple):
            return TypeError(f"'{kind}' object cannot be interpreted as an integer")
        if isinstance(data, str):
            return TypeError("new(): invalid data type 'str'")
        return None if hasattr(data, "__int__") else RuntimeError(f"Could not infer dtype of {kind}")
    if not hasattr(data, "__len__"):
        return TypeError("not a sequence")
    if len(data) != sizes[dim]:
        return ValueError(f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(data)})")
    return next((e for e in (_misfit(x, sizes, dim + 1) for x in data) if e is not None), None)


# ----- from nothing -----


def made(function: str, args: tuple[Any, ...], device: Any, requires_grad: bool) -> Tensor:
    """A tensor that ``function`` of the array module of ``device`` makes there."""
    target = resolved(device)
    try:
        if target is CPU:
            return leaf(getattr(np, function)(*args), CPU, requires_grad)
        with on(target):
            return leaf(getattr(module_of(target), function)(*args), target, requires_grad)
    except ValueError as error:
        raise_if(too_big(error, args[0]))
        raise


def factory(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function that makes a tensor of nothing, with PyTorch's words for its arguments, and with an ``out``."""

    def elsewhere(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        out, pin_memory = kwargs.pop("out", None), kwargs.pop("pin_memory", False)
        if out is None:
            made: Tensor = call(*args, **kwargs)
            return made if pin_memory is None or pin_memory is False else pinned(function.__name__, made, pin_memory)
        from .ops.out import into
        from .ops.out_args import outs_of

        outs_of(function, function.__name__, out, args, kwargs)
        dtype = kwargs.get("dtype")
        if dtype is not None and np.dtype(dtype) != out.dtype:
            given = scalar_type(np.dtype(dtype))
            raise RuntimeError(f"dtype {given} does not match dtype of out parameter ({scalar_type(out.dtype)})")
        device = kwargs.get("device")
        if device is not None and resolved(device).type != out.device.type:
            raise RuntimeError(
                f"device type {resolved(device).type} does not match device type of out parameter ({out.device.type})"
            )
        written: Tensor = into(call, args, {**kwargs, "dtype": out.dtype, "device": out.device, "out": out})
        return written

    call = checked(function, name=function.__name__, elsewhere=elsewhere)
    return call


def shape_of(op: str, size: Any) -> tuple[int, ...]:
    """Sizes given one by one or as one sequence; PyTorch's errors for negative ones."""
    if len(size) == 1 and isinstance(size[0], tuple | list):
        size = tuple(size[0])
    for s in size:
        if s < 0:
            raise RuntimeError(
                "zeros: Dimension size must be non-negative."
                if op == "zeros"
                else f"Trying to create tensor with negative dimension {s}: {list(size)}"
            )
    return tuple(size)


@factory
def zeros(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros."""
    return made("zeros", (shape_of("zeros", size), dtype or get_default_dtype()), device, requires_grad)


@factory
def ones(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ones."""
    return made("ones", (shape_of("ones", size), dtype or get_default_dtype()), device, requires_grad)


@factory
def empty(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor with unspecified content."""
    return made("empty", (shape_of("empty", size), dtype or get_default_dtype()), device, requires_grad)


@factory
def full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of one value."""
    sizes = shape_of("full", (size,))
    value = fill_number("full", fill_value)
    if dtype is None:
        dtype = tensor(value).dtype
    return made("full", (sizes, written(value, np.dtype(dtype), math.prod(sizes) != 1), dtype), device, requires_grad)


def fill_number(op: str, value: Any) -> Any:
    """What a tensor is to be filled with: a number, or a tensor of one."""
    refused = isinstance(value, Tensor) and value.requires_grad
    if isinstance(value, Tensor | np.ndarray | np.generic) and value.ndim == 0 and not refused:
        return value.item()
    if not isinstance(value, int | float | complex):
        raise TypeError(f"{op}(): argument 'fill_value' (position 2) must be Number, not {type(value).__name__}")
    return value


@factory
def eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A matrix with ones on the diagonal."""
    for name, size in (("n", n), ("m", n if m is None else m)):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    return leaf(np.eye(n, m, dtype=dtype or get_default_dtype()), device, requires_grad)


# ----- like another -----


def _like(
    make: str, t: Tensor, dtype: Any, device: Any, requires_grad: bool, memory_format: Any, *value: Any
) -> Tensor:
    """What ``make`` makes in the shape, dtype and layout of ``t``; on another device it is made there."""
    array, place = t._a, t.device if device is None else resolved(device)
    keeps = order(memory_format) == "K"
    if place == t.device and not (keeps and 0 in array.strides):
        made = getattr(np, f"{make}_like")(array, *value, dtype=dtype, order=order(memory_format))
        return leaf(made, place, requires_grad)
    axes, back = as_they_lie(array) if keeps else (list(range(array.ndim)),) * 2
    with on(place):
        there = getattr(module_of(place), make)(tuple(array.shape[a] for a in axes), *value, dtype=dtype or array.dtype)
    return leaf(there.transpose(back), place, requires_grad)


@overridable
@pinnable
@at_home
def zeros_like(
    t: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, memory_format: Any = None
) -> Tensor:
    """Zeros in the shape and dtype of ``t``."""
    return _like("zeros", t, dtype, device, requires_grad, memory_format)


@overridable
@pinnable
@at_home
def ones_like(
    t: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, memory_format: Any = None
) -> Tensor:
    """Ones in the shape and dtype of ``t``."""
    return _like("ones", t, dtype, device, requires_grad, memory_format)


@overridable
@pinnable
@at_home
def full_like(
    t: Tensor,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """One value in the shape and dtype of ``t``."""
    target = np.dtype(dtype or t._a.dtype)
    value = written(fill_number("full_like", fill_value), target, t._a.size != 1)
    return _like("full", t, target, device, requires_grad, memory_format, value)


@overridable
@pinnable
@at_home
def empty_like(
    t: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, memory_format: Any = None
) -> Tensor:
    """Unspecified content in the shape and dtype of ``t``."""
    return _like("empty", t, dtype, device, requires_grad, memory_format)
