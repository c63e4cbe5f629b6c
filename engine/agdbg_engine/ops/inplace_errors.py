"""Errors of in-place ops in the order and the words of PyTorch, which looks at shapes and dtypes before it computes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from ..dtype import category, get_default_dtype, result_type
from ..tensor import Tensor
from .explain import broadcast_error, expand_error, mask_error
from .kernel_names import not_written
from .overlapping import RUNNING

_KERNEL = re.compile(r"\"\w+\" not implemented for '|ufunc '")
_ARGUMENT = re.compile(r"(\w+)\(\): argument '(\w+)' \(position (\d+)\) must be (.*)")
COMPARISONS = frozenset(
    ("eq_", "ne_", "lt_", "le_", "gt_", "ge_", "not_equal_", "less_", "less_equal_", "greater_", "greater_equal_", "logical_and_",
     "logical_or_", "logical_xor_")
)  # fmt: skip
"""Ops whose results are bools, which fit into every dtype."""


def of_mask(t: Tensor, name: str, operands: tuple[Any, ...]) -> Exception | None:
    """Why a mask does not fit to what is written; PyTorch looks from there, and not from the mask."""
    if name not in ("masked_fill_", "masked_scatter_") or not operands or not isinstance(operands[0], Tensor):
        return None
    mask = operands[0]
    if name == "masked_fill_":
        wrong = mask_error(mask, operands[-1]) or broadcast_error([t._a.shape, mask._a.shape])
        whole = t._a.shape if wrong else np.broadcast_shapes(t._a.shape, mask._a.shape)
        return wrong if whole == t._a.shape else _larger(t, whole)
    found = expand_error(mask.dtype, mask._a.shape, t._a.shape)
    if found is not None:  # PyTorch expands the mask inside of the op, where its type goes by another name
        found.args = (str(found).replace("torch.BoolTensor{", "CPUBoolType{"), *found.args[1:])
    return found


def _larger(t: Tensor, shape: tuple[int, ...]) -> Exception:
    text = f"output with shape {list(t.shape)} doesn't match the broadcast shape {list(shape)}"
    return errors.make(RuntimeError, errors.Details("shape"), text)


_SIZED = frozenset(("addmm_", "addmv_", "baddbmm_"))
"""Products whose size PyTorch compares as a whole."""


def other_size(t: Tensor, shape: tuple[int, ...]) -> Exception:
    """What PyTorch says of a product of that ``shape`` that is to be written into ``t``."""
    text = f"Bad in-place call: input tensor size {list(t.shape)} and output tensor size {list(shape)} should match"
    return errors.make(RuntimeError, errors.Details("shape"), text)


def check_result(
    t: Tensor, shape: tuple[int, ...], dtype: np.dtype[Any], name: str = "", operands: tuple[Any, ...] = ()
) -> None:
    """Refuse to write a result of that ``shape`` and ``dtype`` into ``t`` where it would not fit."""
    if shape != t._a.shape:
        errors.raise_if(of_mask(t, name, operands))
        raise other_size(t, shape) if name in _SIZED else _larger(t, shape)
    if category(dtype) > category(t.dtype):
        limits = name in ("clamp_", "clip_", "clamp_min_", "clamp_max_")
        raise not_written(dtype, t.dtype, in_cpp=limits and not any(isinstance(x, Tensor) for x in operands))


def put_right(
    t: Tensor, name: str, function: Callable[..., Tensor], operands: tuple[Any, ...], error: Exception
) -> None:
    """Raise what PyTorch says first where ``t.name(*operands)`` met ``error``; return where that is right as it is."""
    text = str(error)
    found = _ARGUMENT.match(text)
    if found is not None and found[1] != name and int(found[3]) > 1:
        said = type(error)(f"{name}(): argument '{found[2]}' (position {int(found[3]) - 1}) must be {found[4]}")
        raise said from None
    if not _KERNEL.match(text) or name.removesuffix("_") in RUNNING:  # the number that those take is no operand
        return
    tensors = [x._a for x in (t, *operands) if isinstance(x, Tensor)]
    try:
        shape = np.broadcast_shapes(*(a.shape for a in tensors))
    except ValueError:
        return
    dtype = t.dtype
    if name not in COMPARISONS:
        dtype = result_type([_ranked(x) for x in (t, *operands) if isinstance(x, Tensor | int | float | complex)])
        row = getattr(function, "row", None)
        if row is not None and row.floats and dtype.kind in "biu":
            dtype = get_default_dtype()
    check_result(t, tuple(shape), dtype)


_OF_NUMBER: dict[type, Any] = {bool: np.dtype(np.bool_), int: np.dtype(np.int64), complex: np.dtype(np.complex64)}


def _ranked(x: Any) -> tuple[np.dtype[Any], int]:
    if isinstance(x, Tensor):
        return x.dtype, 2 if x.ndim else 1
    return _OF_NUMBER.get(type(x)) or get_default_dtype(), 0
