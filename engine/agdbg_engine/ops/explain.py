"""Errors of kernels in PyTorch's words: made only after something went wrong, so that ops need not check first."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np

from .. import errors, events
from ..backends import on_host
from ..device import device_of
from ..dtype import cpp_type, scalar_type
from ..foreign import described
from ..host_memory import ran_out
from ..sites import caller
from ..storage import UNSAVED
from ..tensor import Tensor
from .host_only import refused
from .mixed_devices import wrong_devices
from .refuse import complex_refused

Shape = tuple[int, ...]


def shape_error(text: str, error: type[Exception] = RuntimeError) -> Exception:
    """An error about shapes."""
    return errors.make(error, errors.Details("shape"), text)


def explain(op: str, error: Exception, **tensors: Any) -> Exception:
    """``error`` of a kernel in PyTorch's words where it has some, else ``error`` itself; instruments are told of it."""
    found = _explained(op, error, **tensors)
    if events.sink is not None and not hasattr(found, "details"):  # else errors.make has told them
        events.sink.op_failed(found, *caller())
    return found


def _explained(op: str, error: Exception, **tensors: Any) -> Exception:
    if isinstance(error, MemoryError):
        return ran_out(error) or error
    refusal = next((refused(op, t._a) for t in tensors.values() if isinstance(t, Tensor) and not on_host(t._a)), None)
    if refusal is not None:
        return refusal
    if isinstance(error, RuntimeError) and error.args == (UNSAVED,):
        return errors.make(RuntimeError, errors.Details("inference"), UNSAVED)
    if isinstance(error, RuntimeError) or hasattr(error, "details"):
        return error
    for name, t in tensors.items():
        if not isinstance(t, Tensor | int | float | bool | complex) or (name == "self" and not _any_tensor(tensors)):
            return not_a_tensor(op, name, t)
    if isinstance(error, AttributeError):
        wrong = next(((n, t) for n, t in tensors.items() if not isinstance(t, Tensor)), None)
        if wrong is not None:
            return not_a_tensor(op, *wrong)
    arrays = [t._a for t in tensors.values() if isinstance(t, Tensor)]
    return (
        wrong_devices(op, tensors)
        or _dtypes(op, arrays, error)
        or _shapes(op, arrays, error)
        or index_error(error)
        or error
    )


def _any_tensor(tensors: dict[str, Any]) -> bool:
    return any(isinstance(t, Tensor) for t in tensors.values())


def no_tensor(op: str, *operands: Any) -> Exception:
    """Two operands of which at least one must be a tensor, and none is."""
    kinds = ", ".join(type(x).__name__ for x in operands)
    return TypeError(f"{op}() received an invalid combination of arguments - got ({kinds}), but expected one of:")


def not_a_tensor(op: str, name: str, value: Any, position: int = 0) -> Exception:
    """An argument that must be a tensor and is none; its position is that in the function ``op``."""
    at = position or _position(op, name)
    shown = "input" if name == "self" else name
    return TypeError(f"{op}(): argument '{shown}' (position {at}) must be Tensor, not {described(value)}")


def wrong_number(op: str, plain: dict[str, Any]) -> Exception | None:
    """What is wrong with the arguments that are no tensors; ``None`` when it is not their type."""
    public = op.removesuffix("_dim")
    if not isinstance(plain.get("keepdim", False), bool | np.bool_):
        return TypeError(f"{public}(): argument 'keepdim' must be bool, not {type(plain['keepdim']).__name__}")
    limits = [v for n, v in plain.items() if n in ("min", "max") and v is not None]
    if op.startswith("clamp") and not all(isinstance(v, int | float | np.number) for v in limits):
        kinds = ", ".join(type(v).__name__ for v in limits)
        return TypeError(f"{op}() received an invalid combination of arguments - got ({kinds}), but expected one of:")
    return None


def _position(op: str, name: str) -> int:
    from . import ROWS

    return list(inspect.signature(ROWS[op]).parameters).index(name) + 1


# ----- dtypes -----

_INVERT = "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."


def bool_subtraction(op: str, *dtypes: np.dtype[Any]) -> None:
    """Refuse the difference of bools and anything; of two bools NumPy itself refuses it."""
    if op in ("sub", "rsub") and any(d == np.bool_ for d in dtypes):
        raise RuntimeError(f"Subtraction, the `-` operator, with a bool tensor is not supported. {_INVERT}")


def negated_bools() -> Exception:
    """PyTorch's error of a tensor of bools with a sign before it."""
    return RuntimeError(f"Negation, the `-` operator, on a bool tensor is not supported. {_INVERT}")


def _dtypes(op: str, arrays: list[Any], error: Exception) -> Exception | None:
    if not isinstance(error, TypeError) or not arrays:
        return None
    if op in ("sub", "rsub"):
        return RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
            "instead."
        )
    if arrays[0].dtype.kind == "c":
        return complex_refused(op, arrays[0].dtype)
    if op == "neg":
        return negated_bools()
    kind = device_of(arrays[0]).type
    why = "" if kind == "cpu" else f" ({error})"
    return NotImplementedError(f"\"{op}_{kind}\" not implemented for '{scalar_type(arrays[0].dtype)}'{why}")


# ----- shapes -----


def _shapes(op: str, arrays: list[Any], error: Exception) -> Exception | None:
    if op == "view" and "copy" in str(error):
        return shape_error(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    shapes = [tuple(a.shape) for a in arrays]
    if op in ("mm", "addmm"):
        wrong = product_error(*shapes[-2:])
        return wrong or (
            expand_error(arrays[0].dtype, shapes[0], (shapes[1][0], shapes[2][1])) if op == "addmm" else None
        )
    if isinstance(error, ValueError) and len(shapes) >= 2:
        return broadcast_error(shapes[::-1] if op == "masked_fill" else shapes) or _copied(op, *shapes[:2])
    return None


def index_error(error: Exception) -> Exception | None:
    """What NumPy says about indices, in PyTorch's words; ``None`` where it is about something else."""
    text = str(error)
    if not isinstance(error, IndexError):
        return None
    if text.startswith("index "):
        return shape_error(text.replace("for axis", "for dimension"), IndexError)
    if text.startswith("shape mismatch: indexing arrays"):
        shapes = [f"[{', '.join(n for n in s.split(',') if n)}]" for s in re.findall(r"\(([\d,]*)\)", text)]
        return shape_error(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {', '.join(shapes)}",
            IndexError,
        )
    return None


def _copied(op: str, target: Shape, source: Shape) -> Exception | None:
    if op != "copy":
        return None
    whole = np.broadcast_shapes(target, source)
    return shape_error(f"output with shape {list(target)} doesn't match the broadcast shape {list(whole)}")


def product_error(a: Shape, b: Shape) -> Exception | None:
    """Why two matrices cannot be multiplied; ``None`` when they can."""
    if len(a) != 2 or len(b) != 2 or a[1] == b[0]:
        return None
    return shape_error(f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})")


def broadcast_error(shapes: list[Shape]) -> Exception | None:
    """The first pair of sizes that do not broadcast, from the right; ``None`` when all do."""
    a = shapes[0]
    for b in shapes[1:]:
        for i in range(1, min(len(a), len(b)) + 1):
            if a[-i] != b[-i] and 1 not in (a[-i], b[-i]):
                dim = max(len(a), len(b)) - i
                return shape_error(
                    f"The size of tensor a ({a[-i]}) must match the size of tensor b ({b[-i]}) at non-singleton "
                    f"dimension {dim}"
                )
        a = np.broadcast_shapes(a, b)
    return None


def mask_error(mask: Tensor, value: Any) -> Exception | None:
    """Why ``masked_fill`` takes neither such a mask nor such a value, whatever their sizes; ``None`` if it does."""
    if isinstance(value, Tensor) and value.ndim:
        dims = value.ndim
        return shape_error(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {dims} dimension(s)."
        )
    if mask.dtype.kind != "b":
        name = cpp_type(mask.dtype)
        return RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {name}")
    return None


def size_at(x: Any, dim: int) -> int:
    """The size of ``x`` in ``dim``; :class:`IndexError` where it has fewer dimensions."""
    if x.ndim > dim >= -x.ndim:
        return int(x.shape[dim])
    if not x.ndim:
        raise shape_error(f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
    raise shape_error(
        f"Dimension out of range (expected to be in range of [{-x.ndim}, {x.ndim - 1}], but got {dim})", IndexError
    )


def check_exponential(dtype: np.dtype[Any]) -> None:
    """Refuse to draw exponential numbers in a ``dtype`` that has no fractions."""
    if dtype.kind != "f":
        raise shape_error(
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you specified "
            f"{scalar_type(dtype)}"
        )


def expand_error(dtype: np.dtype[Any], have: Shape, want: Shape) -> Exception | None:
    """Why a tensor of shape ``have`` does not broadcast to ``want`` (-1 keeps a size); ``None`` when it does."""
    lead = len(want) - len(have)
    if lead < 0:
        return shape_error(
            f"expand(torch.{scalar_type(dtype)}Tensor{{{list(have)}}}, size={list(want)}): the number of sizes provided "
            f"({len(want)}) must be greater or equal to the number of dimensions in the tensor ({len(have)})"
        )
    for i, size in reversed(list(enumerate(want))):
        if i < lead:
            if size < 0:
                return shape_error(
                    f"The expanded size of the tensor ({size}) isn't allowed in a leading, non-existing dimension {i}"
                )
        elif size not in (-1, have[i - lead]) and have[i - lead] != 1:
            return shape_error(
                f"The expanded size of the tensor ({size}) must match the existing size ({have[i - lead]}) at non-singleton "
                f"dimension {i}.  Target sizes: {list(want)}.  Tensor sizes: {list(have)}"
            )
        elif size < -1:
            return shape_error(
                f"The expanded size of the tensor ({size}) isn't allowed in dimension {i}: only -1 keeps a size"
            )
    return None
