"""``out=``: a function that writes its result into tensors which are there already, and records nothing."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from .. import errors, events
from ..device import array_module
from ..dtype import category, cpp_type, scalar_type
from ..grad_mode import mode, no_grad
from ..saved.mutation import before_write
from ..saved.strict import refuse
from ..sites import caller, user_stacklevel
from ..tangents import tangents_of
from ..tensor import Tensor, check_inplace, repeats, wrap
from .mixed_devices import same_device
from .overlapping import as_a_whole, check_apart, check_partial
from .self_overlap import overlaps_itself, refusal, write_last

NAMES = frozenset(
    [
        "abs",
        "add",
        "addmm",
        "all",
        "amax",
        "amin",
        "angle",
        "any",
        "argmax",
        "argmin",
        "bitwise_and",
        "bitwise_not",
        "bitwise_or",
        "bitwise_xor",
        "bmm",
        "cat",
        "ceil",
        "clamp",
        "clamp_max",
        "clamp_min",
        "complex",
        "conj_physical",
        "cos",
        "div",
        "dot",
        "eq",
        "exp",
        "expm1",
        "floor",
        "gather",
        "ge",
        "gt",
        "le",
        "log",
        "log1p",
        "log_softmax",
        "logical_and",
        "logical_not",
        "logical_or",
        "logical_xor",
        "logsumexp",
        "lt",
        "matmul",
        "max",
        "maximum",
        "mean",
        "min",
        "minimum",
        "mm",
        "mul",
        "mv",
        "ne",
        "neg",
        "outer",
        "polar",
        "pow",
        "reciprocal",
        "round",
        "rsqrt",
        "sgn",
        "sigmoid",
        "sign",
        "sin",
        "softmax",
        "sqrt",
        "square",
        "stack",
        "std",
        "sub",
        "sum",
        "tanh",
        "trunc",
        "var",
        "where",
    ]
)
"""The functions that PyTorch has in this form too."""

_EXACT = frozenset(
    (
        "mm",
        "bmm",
        "addmm",
        "matmul",
        "mv",
        "dot",
        "gather",
        "aminmax",
        "sort",
        "msort",
        "topk",
        "kthvalue",
        "median",
        "nanmedian",
        "mode",
        "cummax",
        "cummin",
        "logcumsumexp",
        "quantile",
        "nanquantile",
        "histc",
        "renorm",
        "isin",
        "searchsorted",
        "bucketize",
        "multinomial",
    )
)
"""Those that do not cast their result."""

_JOINED = frozenset((
    "cat", "column_stack", "concat", "concatenate", "cross", "dstack", "hstack", "kron", "row_stack", "stack", "vstack",
))  # fmt: skip
_APART = _JOINED | {"addr", "gather", "ger", "index_select", "kthvalue", "masked_select", "outer", "take"}
"""Those that may not write to an operand at all."""


_FACTORIES = frozenset(("eye", "full", "ones", "zeros"))
"""Those that may write memory which shows several times: they fill it, :func:`eye` with zeros before it writes its ones."""

_INNER = {"matmul": "mm", "norm": "linalg_vector_norm", "outer": "mul"}
"""Which function does the work of another in PyTorch, and so is named by its error."""


def into(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``function(*args, **kwargs)`` with its ``out``: the tensors given there hold the result and are returned.

    Refused before a byte changes where PyTorch refuses it: when a gradient is wanted, for memory that is shared element by
    element or partly with an operand, for a dtype that cannot hold the result. An ``out`` of another size is resized like
    :func:`resize_` does it, with a warning; an empty one gets new memory: NumPy does not say where an empty view lies.
    """
    kwargs = dict(kwargs)
    out, name = kwargs.pop("out"), function.__name__
    if out is None:
        return function(*args, **kwargs)
    outs = out if isinstance(out, tuple | list) else (out,)
    operands = list(_tensors((*args, *kwargs.values())))
    _check(name, outs, operands)
    with no_grad():
        result = function(*args, **kwargs)
        results = result if isinstance(result, tuple) else (result,)
        for target, value in zip(outs, results, strict=True):
            _check_fits(name, target, value, operands)
        for target, value in zip(outs, results, strict=True):
            _write(name, target, value, operands)
    return out if isinstance(out, Tensor) else type(result)(*outs) if hasattr(result, "_fields") else tuple(outs)


def _tensors(values: Iterable[Any]) -> Iterable[Tensor]:
    for v in values:
        if isinstance(v, Tensor):
            yield v
        elif isinstance(v, tuple | list):
            yield from _tensors(v)


def _check(name: str, outs: Iterable[Any], operands: list[Tensor]) -> None:
    for out in outs:
        if not isinstance(out, Tensor):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if mode.grad and any(t.requires_grad for t in (*outs, *operands)):
        raise errors.make(
            RuntimeError,
            errors.Details("other"),
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
            "requires grad.",
            "fix: assign the result to a name instead, or wrap the call in torch.no_grad()",
        )
    if events.special & events.FORWARD and any(tangents_of(t) for t in (*outs, *operands)):
        raise NotImplementedError(
            f"Trying to use forward AD with {_INNER.get(name, name)}_out that does not support it because it is an out= function"
        )


def _check_fits(name: str, out: Tensor, result: Tensor, operands: list[Tensor]) -> None:
    same_device(out, result)
    other_size = out._a.shape != result._a.shape and name != "index_select"
    made_first = other_size and (name in _JOINED or as_a_whole(name, len(operands)))
    target = wrap(_of_size(out, result)) if made_first else out
    if name in _APART:
        check_apart((out, target), operands)
    if name in _EXACT and out.dtype != result.dtype:
        raise RuntimeError(
            f"Expected out tensor to have dtype {cpp_type(result.dtype)}, but got {cpp_type(out.dtype)} instead"
        )
    if name in ("complex", "polar") and out.dtype != result.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {scalar_type(result.dtype)} but got scalar type {scalar_type(out.dtype)} for argument "
            "'out'"
        )
    if category(result.dtype) > category(out.dtype):
        if name in ("cat", "stack"):
            raise TypeError(
                f"torch.{name}(): input types can't be cast to the desired output type {scalar_type(out.dtype)}"
            )
        raise RuntimeError(
            f"result type {scalar_type(result.dtype)} can't be cast to the desired output type {scalar_type(out.dtype)}"
        )
    check_inplace(out, tuple(operands), repeating=made_first or name in _FACTORIES)
    check_partial(target, operands, name)
    if overlaps_itself(target._a) and as_a_whole(name, len(operands)):
        raise refusal()  # PyTorch adds up in there, and so reads what other elements have left
    if events.special & events.STRICT:
        refuse(out, f"{name}.out")


def _write(name: str, out: Tensor, result: Tensor, operands: list[Tensor]) -> None:
    if events.special:
        before_write(out, name)
    if out._a.shape != result._a.shape:
        _warn_of_size(out, result)
        out._a = _of_size(out, result)
    if name in _FACTORIES and (repeats(out._a) or overlaps_itself(out._a)):
        zero = result._a == 0
        out._a[zero] = 0
        out._a[~zero] = result._a[~zero]
    elif overlaps_itself(out._a):
        write_last(out._a, result._a, [x._a for x in operands])
    else:
        out._a[...] = result._a
    out._bump(f"{name}.out", None, *caller())


def _of_size(out: Tensor, result: Tensor) -> Any:
    """The buffer of ``out`` in the size and order of ``result``; a new one for an empty ``out``."""
    from .wide.shapes.factories import resized  # made of these ops

    if out._a.size:
        return resized(out._a, result._a.shape, result._a.strides)
    return array_module(result._a).empty_like(result._a, out._a.dtype)


def _warn_of_size(out: Tensor, result: Tensor) -> None:
    if out._a.size:
        warnings.warn(
            f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does not match the "
            f"required output shape {list(result.shape)}. This behavior is deprecated, and in a future PyTorch release outputs "
            "will not be resized unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, "
            "inplace, to zero elements with t.resize_(0).",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
