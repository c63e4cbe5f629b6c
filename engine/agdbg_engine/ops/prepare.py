"""What the generated ops do off the fast path: mixed dtypes, numbers, cuts, errors in PyTorch's words."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors, events
from ..device import device_of
from ..dtype import get_default_dtype, result_type, scalar_type
from ..sites import caller
from ..tensor import Tensor


def mixed(function: Callable[..., Tensor], names: list[str], arguments: dict[str, Any]) -> Tensor:
    """Call ``function`` with its tensors ``names`` cast to their common dtype (differentiably)."""
    operands = [arguments[n]._a for n in names]
    dtype = result_type([(a.dtype, 2 if a.ndim else 1) for a in operands])
    for name, array in zip(names, operands, strict=True):
        if array.dtype != dtype:
            arguments[name] = arguments[name].to(dtype)
    return function(**arguments)


def operand(op: str, argument: str, value: Any) -> Any:
    """``value`` as a tensor or Python number; raises :class:`TypeError` for anything else."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, numbers.Number):
        return complex(value) if isinstance(value, complex) else float(value)  # type: ignore[arg-type]  # Fraction and its like
    raise TypeError(f"{op}(): argument '{argument}' must be Tensor or Number, not {type(value).__name__}")


def weak(result: Any, tensor: Any) -> Any:
    """A float64 ``result`` of an integer tensor, cast to the default dtype: numbers do not set the precision."""
    if tensor.dtype.kind in "biu" and result.dtype == np.float64:
        return result.astype(get_default_dtype())
    return result


def cut(tensors: tuple[Tensor, ...]) -> None:
    """Report that the graph ends at these inputs because gradient mode is off (or the result has no gradient)."""
    from ..grad_mode import mode

    sink = events.sink
    if sink is None or mode.grad:
        return
    site = caller()
    for t in tensors:
        if t._rg and t.requires_grad:
            sink.graph_cut(t, "no_grad", *site)


def explain(op: str, error: Exception, **tensors: Any) -> Exception:
    """``error`` of a kernel in PyTorch's words where it has some, else ``error`` itself."""
    if isinstance(error, RuntimeError) or hasattr(error, "details"):
        return error
    for name, t in tensors.items():
        if not isinstance(t, Tensor | int | float | bool | complex):
            shown = "input" if name == "self" else name
            return TypeError(f"{op}(): argument '{shown}' must be Tensor, not {type(t).__name__}")
    arrays = [t._a for t in tensors.values() if isinstance(t, Tensor)]
    return _devices(arrays) or _shapes(op, arrays, error) or error


def _devices(arrays: list[Any]) -> Exception | None:
    seen = list(dict.fromkeys(str(device_of(a)) for a in arrays))
    if len(seen) < 2:
        return None
    return RuntimeError(f"Expected all tensors to be on the same device, but found at least two devices, {seen[0]} and {seen[1]}!")


def _shapes(op: str, arrays: list[Any], error: Exception) -> Exception | None:
    shapes = [tuple(a.shape) for a in arrays]
    if op in ("mm", "addmm") and len(shapes) >= 2:
        a, b = shapes[-2:]
        if len(a) == len(b) == 2 and a[1] != b[0]:
            return _error(f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})")
    if op == "mv" and shapes[0][1] != shapes[1][0]:
        a, b = shapes
        return _error(f"size mismatch, got input ({a[0]}), mat ({a[0]}x{a[1]}), vec ({b[0]})")
    if op == "dot" and shapes[0] != shapes[1]:
        return _error(
            f"inconsistent tensor size, expected tensor [{shapes[0][0]}] and src [{shapes[1][0]}] to have the same number of "
            f"elements, but got {shapes[0][0]} and {shapes[1][0]} elements respectively"
        )
    if op == "bmm" and len(shapes) == 2:
        return _error(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{shapes[0][0]}, {shapes[0][2]}] but got: [{shapes[1][0]}, {shapes[1][1]}]."
        )
    if op == "view":
        if "copy" in str(error):
            return _error(
                "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
                "contiguous subspaces). Use .reshape(...) instead."
            )
        return None
    if isinstance(error, ValueError) and len(shapes) >= 2:
        return _broadcast(shapes)
    return None


def _broadcast(shapes: list[tuple[int, ...]]) -> Exception | None:
    """The first pair of sizes that do not broadcast, from the right."""
    a = shapes[0]
    for b in shapes[1:]:
        for i in range(1, min(len(a), len(b)) + 1):
            if a[-i] != b[-i] and 1 not in (a[-i], b[-i]):
                dim = max(len(a), len(b)) - i
                return _error(
                    f"The size of tensor a ({a[-i]}) must match the size of tensor b ({b[-i]}) at non-singleton dimension {dim}"
                )
        a = np.broadcast_shapes(a, b)
    return None


def _error(text: str) -> Exception:
    return errors.make(RuntimeError, errors.Details("shape"), text)


def same_dtype(op: str, *tensors: Tensor) -> None:
    """Matrix ops do not promote: raise PyTorch's error for two dtypes."""
    first = tensors[0].dtype
    for t in tensors[1:]:
        if t.dtype != first:
            raise RuntimeError(
                f"expected m1 and m2 to have the same dtype, but got: {_c_name(first)} != {_c_name(t.dtype)}"
            )


def _c_name(dtype: np.dtype[Any]) -> str:
    name = scalar_type(dtype)
    return {"Long": "long long", "Int": "int", "Half": "c10::Half", "Bool": "bool"}.get(name, name.lower())
