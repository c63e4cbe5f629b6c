"""``torch.testing``: ``assert_close``, with PyTorch's tolerances and messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .backward import QUIET
from .creation import as_tensor
from .missing import public_names
from .tensor import Tensor

__all__ = ["assert_close"]

__getattr__ = public_names(__name__)

_TOLERANCES = {
    "float16": (1e-3, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7), "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}  # fmt: skip
_NUMBERS = (bool, int, float, complex)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise :class:`AssertionError` unless ``actual`` and ``expected`` are close: ``|a - e| <= atol + rtol * |e|``.

    Tensors, arrays, numbers, and sequences and mappings of these. Without ``rtol`` and ``atol`` they depend on the dtype, whatever
    is not floating must be equal. ``msg`` replaces the message, or makes one of it.
    """
    check = _Check(allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_stride)
    try:
        check.pair(actual, expected, ())
    except AssertionError as error:
        if msg is None:
            raise
        raise AssertionError(msg(str(error)) if callable(msg) else msg) from None


class _Check:
    def __init__(
        self, subclasses: bool, rtol: float | None, atol: float | None, nan: bool, device: bool, dtype: bool, stride: bool
    ) -> None:  # fmt: skip
        if (rtol is None) != (atol is None):
            missing = "rtol" if rtol is None else "atol"
            raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
        self.subclasses, self.rtol, self.atol, self.nan = subclasses, rtol, atol, nan
        self.device, self.dtype, self.stride = device, dtype, stride

    def pair(self, a: Any, e: Any, path: tuple[Any, ...]) -> None:
        """Compare two things at ``path``, the keys that lead to them."""
        if isinstance(a, Mapping) and isinstance(e, Mapping):
            self._mappings(a, e, path)
        elif _is_sequence(a) and _is_sequence(e):
            if len(a) != len(e):
                raise _mismatch(f"The length of the sequences mismatch: {len(a)} != {len(e)}", path)
            for i, (x, y) in enumerate(zip(a, e, strict=True)):
                self.pair(x, y, (*path, i))
        elif a is None and e is None:
            return
        elif isinstance(a, _NUMBERS) and isinstance(e, _NUMBERS):
            self._numbers(a, e, path)
        elif isinstance(a, Tensor | np.ndarray) and (isinstance(a, type(e)) or isinstance(e, type(a))):
            if not self.subclasses and type(a) is not type(e):
                raise _unsupported(a, e, path)
            self._tensors(as_tensor(a), as_tensor(e), path)
        else:
            raise _unsupported(a, e, path)

    def _mappings(self, a: Any, e: Any, path: tuple[Any, ...]) -> None:
        missing, more = [k for k in e if k not in a], [k for k in a if k not in e]
        if missing or more:
            lines = ["The keys of the mappings do not match:"]
            lines += [f"Missing keys in the actual mapping: {sorted(missing)}"] if missing else []
            lines += [f"Additional keys in the actual mapping: {sorted(more)}"] if more else []
            raise _mismatch("\n".join(lines), path)
        for key in e:
            self.pair(a[key], e[key], (*path, key))

    def _numbers(self, a: Any, e: Any, path: tuple[Any, ...]) -> None:
        if self.dtype and type(a) is not type(e):
            raise _mismatch(f"The (d)types do not match: {type(a)} != {type(e)}.", path)
        kinds = {int: "int64", bool: "bool", float: "float64", complex: "complex128"}
        rtol, atol = self._tolerances(*(kinds.get(type(x), "float64") for x in (a, e)))
        x, y = (np.asarray(v) for v in (a, e))
        if not self._close(x, y, rtol, atol):
            raise _mismatch(_of_scalars(a, e, rtol, atol), path)

    def _tensors(self, a: Tensor, e: Tensor, path: tuple[Any, ...]) -> None:
        shown = [f"torch.Size({list(t.shape)})" for t in (a, e)]
        self._same("shape", a.shape, e.shape, path, *shown)
        if self.stride:
            self._same("stride()", a.stride(), e.stride(), path)
        if self.device:
            self._same("device", a.device, e.device, path)
        if self.dtype:
            self._same("dtype", a.dtype, e.dtype, path, f"torch.{a.dtype}", f"torch.{e.dtype}")
        rtol, atol = self._tolerances(a.dtype.name, e.dtype.name)
        x, y = a.detach().cpu()._a, e.detach().cpu()._a
        close = self._close(x, y, rtol, atol)
        if not np.all(close):
            text = _of_scalars(x.item(), y.item(), rtol, atol) if x.ndim == 0 else _of_arrays(x, y, close, rtol, atol)
            raise _mismatch(text, path)

    def _same(self, name: str, a: Any, e: Any, path: tuple[Any, ...], *shown: str) -> None:
        if a != e:
            left, right = shown or (a, e)
            raise _mismatch(f"The values for attribute '{name}' do not match: {left} != {right}.", path)

    def _tolerances(self, *dtypes: str) -> tuple[float, float]:
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        pairs = [_TOLERANCES.get(name, (0.0, 0.0)) for name in dtypes]
        return max(r for r, _ in pairs), max(a for _, a in pairs)

    def _close(self, a: Any, e: Any, rtol: float, atol: float) -> Any:
        if not rtol and not atol and not self.nan:
            return a == e
        kind = np.promote_types(np.promote_types(a.dtype, e.dtype), np.float64)
        with np.errstate(**QUIET):
            return np.isclose(a.astype(kind), e.astype(kind), rtol, atol, self.nan)


def _is_sequence(x: Any) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, str | bytes)


def _mismatch(text: str, path: tuple[Any, ...]) -> AssertionError:
    return AssertionError(text + _at(path))


def _at(path: tuple[Any, ...]) -> str:
    return "\n\nThe failure occurred for item " + "".join(f"[{key!r}]" for key in path) if path else ""


def _unsupported(a: Any, e: Any, path: tuple[Any, ...]) -> TypeError:
    return TypeError(f"No comparison pair was able to handle inputs of type {type(a)} and {type(e)}.{_at(path)}")


def _of_scalars(a: Any, e: Any, rtol: float, atol: float) -> str:
    equal = not rtol and not atol
    difference = abs(int(a) - int(e)) if isinstance(a, bool) else abs(a - e)
    relative = difference / abs(e) if e != 0 else float("inf")
    return (
        f"Scalars are not {'equal' if equal else 'close'}!\n\nExpected {e} but got {a}.\nAbsolute difference: {difference}"
        f"{_allowed(equal, atol)}\nRelative difference: {relative}{_allowed(equal, rtol)}"
    )


def _of_arrays(a: Any, e: Any, close: Any, rtol: float, atol: float) -> str:
    equal = not rtol and not atol
    whole = a.dtype.kind in "biu" and e.dtype.kind in "biu"
    if whole:
        a, e = a.astype(np.int64), e.astype(np.int64)
    wrong = close.size - int(close.sum())
    with np.errstate(**QUIET):
        difference = np.where(close, 0, abs(a - e))
        quotient = difference / abs(e)
        relative = np.where(close, 0, quotient.astype(np.float32) if whole else quotient)
    lines = [
        f"Tensor-likes are not {'equal' if equal else 'close'}!\n",
        f"Mismatched elements: {wrong} / {close.size} ({wrong / close.size:.1%})",
    ]
    for name, values, tolerance in (("absolute", difference, atol), ("relative", relative, rtol)):
        at = np.unravel_index(int(values.argmax()), values.shape)
        index = tuple(int(i) for i in at)
        lines.append(f"Greatest {name} difference: {values[at].item()} at index {index}{_allowed(equal, tolerance)}")
    return "\n".join(lines)


def _allowed(equal: bool, tolerance: float) -> str:
    return "" if equal else f" (up to {tolerance} allowed)"
