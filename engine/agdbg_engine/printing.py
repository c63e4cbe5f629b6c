"""How a tensor prints, as in PyTorch: values, then dtype if it is not the obvious one, then its place in the graph."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import events
from .dtype import bool as bool_
from .dtype import get_default_dtype, int64
from .print_options import OPTIONS

if TYPE_CHECKING:
    from .tensor import Tensor

Format = Callable[[Any], str]


def tensor_repr(t: Tensor) -> str:
    """``tensor([1.0000, 2.0000], grad_fn=<MulBackward0>)``; big tensors are abbreviated."""
    from .tensor import Parameter, Tensor

    array = t._a.get() if hasattr(t._a, "get") else t._a
    plain = type(t) is Tensor or type(t) is Parameter
    start = "tensor(" if plain else type(t).__name__ + "("
    text = start + (_values(array, len(start)) if array.size else "[]")
    for note in _notes(t):
        wraps = len(text) - text.rfind("\n") + len(note) + 2 >= OPTIONS.linewidth
        text += (",\n" + " " * len(start) if wraps else ", ") + note
    text = f"Parameter({text}))" if isinstance(t, Parameter) and not plain else f"{text})"
    return f"Parameter containing:\n{text}" if issubclass(type(t), Parameter) else text


def _notes(t: Tensor) -> list[str]:
    notes = []
    if t._a.size == 0 and t.ndim != 1:
        notes.append(f"size={tuple(t.shape)}")
    if t.dtype != get_default_dtype() and (t._a.size == 0 or t.dtype not in (int64, bool_, _complex_default())):
        notes.append(f"dtype={t.dtype}")
    if str(t.device) != "cpu":
        notes.append(f"device='{t.device}'")
    made_by = _made_by(t)
    if made_by:
        notes.append(f"grad_fn=<{made_by}>")
    elif t.requires_grad:
        notes.append("requires_grad=True")
    tangent = _public_tangent(t)
    if tangent is not None:
        notes.append(f"tangent={tangent if tangent.ndim else tangent.item()}")
    return notes


def _made_by(t: Tensor) -> str:
    """The name of the node that made ``t``; empty for a leaf, ``Invalid`` for a view that can have none any more."""
    try:
        return "" if t.grad_fn is None else t.grad_fn.op_name
    except RuntimeError:
        return "Invalid"


def _public_tangent(t: Tensor) -> Tensor | None:
    if t._meta is None or not events.special & events.FORWARD:
        return None
    from .tangents import tangent_of

    return tangent_of(t, 0)


def _complex_default() -> Any:
    """The dtype of tensors made from Python's complex numbers."""
    return np.promote_types(get_default_dtype(), np.complex64)


# ----- the values -----


def _values(array: Any, indent: int) -> str:
    edges = array.size > OPTIONS.threshold
    shown = _edges_of(array) if edges else array
    form, width = _pair(shown) if array.dtype.kind == "c" else _column(shown)
    return _nested(array, indent, edges, width, form)


def _column(shown: Any) -> tuple[Format, int]:
    """The format of real numbers, all of one width, and that width."""
    form = _format(shown)
    if shown.dtype.kind == "f":
        shown = shown[np.isfinite(shown) & (shown != 0)]  # the others do not count, a habit of PyTorch
    width = max((len(form(v)) for v in shown.reshape(-1).tolist()), default=1)
    return lambda v: form(v).rjust(width), width


def _pair(shown: Any) -> tuple[Format, int]:
    """The format of complex numbers: only the real parts are brought to one width."""
    real, width = _column(shown.real)
    imag, more = _column(shown.imag)

    def form(v: Any) -> str:
        turned = imag(v.imag).lstrip()
        return f"{real(v.real)}{'' if turned[0] == '-' else '+'}{turned}j"

    return form, width + more + 1


def _edges_of(array: Any) -> Any:
    """The elements that an abbreviated tensor shows."""
    edge = OPTIONS.edgeitems
    for dim, size in enumerate(array.shape):
        if size > 2 * edge:
            array = array.take([*range(edge), *range(size - edge, size)], dim)
    return array


def _nested(array: Any, indent: int, edges: bool, width: int, form: Format) -> str:
    if array.ndim == 0:
        return form(array.item())
    edge = OPTIONS.edgeitems
    abbreviated = edges and len(array) > 2 * edge
    rows = [*array[:edge], *array[len(array) - edge :]] if abbreviated else list(array)
    items = [_nested(row, indent + 1, edges, width, form) for row in rows]
    if abbreviated:
        items.insert(edge, " ..." if array.ndim == 1 else "...")
    if array.ndim > 1:
        return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(items) + "]"
    per_line = max(1, (OPTIONS.linewidth - indent) // (width + 2))
    lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _format(array: Any) -> Format:
    """One format for all elements: ``1.`` where all are whole, else decimals, or an exponent for a wide range."""
    if array.dtype.kind != "f":
        return str
    sizes = np.abs(array[np.isfinite(array) & (array != 0)].astype(np.float64))
    if not sizes.size:
        return _whole
    low, high = sizes.min(), sizes.max()
    whole = bool((sizes == np.ceil(sizes)).all())
    wide = bool(high / low > 1000 or high > 1e8 or (low < 1e-4 and not whole))
    if wide if OPTIONS.sci_mode is None else OPTIONS.sci_mode:
        return _with_exponent
    return _whole if whole else _with_decimals


def _whole(v: float) -> str:
    return f"{v:.0f}." if math.isfinite(v) else f"{v:.0f}"


def _with_decimals(v: float) -> str:
    return f"{v:.{OPTIONS.precision}f}"


def _with_exponent(v: float) -> str:
    return f"{v:.{OPTIONS.precision}e}"
