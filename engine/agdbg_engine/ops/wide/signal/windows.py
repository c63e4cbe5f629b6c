"""Windows of signals, symmetric or periodic: ``torch.signal.windows`` and the older forms ``hann_window`` and its like."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ....creation import leaf
from ....dtype import cpp_type, get_default_dtype, scalar_type
from ....pinned_memory import pinnable
from ....tensor import Tensor
from ...explain import shape_error
from ..declare import public


def _checked(name: str, M: int, dtype: Any) -> Any:
    """The dtype of a window of ``M`` points; PyTorch's errors where there is none."""
    kind = np.dtype(dtype or get_default_dtype())
    if not hasattr(M, "__index__"):
        raise TypeError(f"{name}(): argument 'M' (position 1) must be int, not {type(M).__name__}")
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if kind not in (np.float32, np.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: torch.{kind.name}")
    return kind


def _points(M: int, sym: bool) -> Any:
    """0, 1, ... over the length of the window between its end points, or its period."""
    return np.arange(M) / max(M - 1 if sym else M, 1)


def _cosines(M: int, sym: bool, a: Iterable[float]) -> Any:
    if M == 1:
        return np.ones(1)
    turns = 2 * np.pi * _points(M, sym)
    coefficients = np.asarray([(-1) ** i * w for i, w in enumerate(a)], np.float64)
    return coefficients @ np.cos(np.arange(len(coefficients))[:, None] * turns)


def _triangle(M: int, sym: bool) -> Any:
    return np.ones(1) if M == 1 else 1 - abs(2 * _points(M, sym) - 1)


def _kaiser(M: int, sym: bool, beta: float) -> Any:
    if M == 1:
        return np.ones(1)
    inside = np.sqrt(np.maximum(1 - (2 * _points(M, sym) - 1) ** 2, 0))
    return np.i0(beta * inside) / np.i0(beta)


def _window(values: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    return leaf(np.asarray(values).astype(dtype), device, requires_grad)


# ----- torch.signal.windows -----


@public("signal.windows")
def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """exp(-abs(n - center) / tau); ``center`` (the middle) only where not ``sym``."""
    kind = _checked("exponential", M, dtype)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = (M if not sym and M > 1 else M - 1) / 2 if center is None else center
    return _window(np.exp(-abs(np.arange(M) - middle) / tau), kind, device, requires_grad)


@public("signal.windows")
def cosine(M: int, *, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Half a period of the sine."""
    kind = _checked("cosine", M, dtype)
    whole = M + 1 if not sym and M > 1 else M
    return _window(np.sin(np.pi * (np.arange(M) + 0.5) / max(whole, 1)), kind, device, requires_grad)


@public("signal.windows")
def gaussian(
    M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """exp(-((n - middle) / std) ** 2 / 2)."""
    kind = _checked("gaussian", M, dtype)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    middle = (M if not sym and M > 1 else M - 1) / 2
    return _window(np.exp(-(((np.arange(M) - middle) / std) ** 2) / 2), kind, device, requires_grad)


@public("signal.windows")
def kaiser(
    M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The Kaiser window of shape ``beta``."""
    kind = _checked("kaiser", M, dtype)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _window(_kaiser(M, sym, beta), kind, device, requires_grad)


@public("signal.windows")
def bartlett(M: int, *, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A triangle with zeros at its ends."""
    return _window(_triangle(M, sym), _checked("bartlett", M, dtype), device, requires_grad)


@public("signal.windows")
def general_cosine(
    M: int, *, a: Any, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A sum of cosines of 0, 1, ... periods with the coefficients ``a``, of alternating signs."""
    kind = _checked("general_cosine", M, dtype)
    if M > 1 and not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if M > 1 and not a:
        raise ValueError("Coefficients cannot be empty")
    return _window(_cosines(M, sym, a), kind, device, requires_grad)


@public("signal.windows")
def general_hamming(
    M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """alpha - (1 - alpha) cos(2 pi n / (M - 1))."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, device=device, requires_grad=requires_grad)


def _fixed(name: str, a: list[float], doc: str) -> None:
    def window(
        M: int, *, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Tensor:
        if name == "blackman":
            _checked(name, M, dtype)
        return general_cosine(M, a=a, sym=sym, dtype=dtype, device=device, requires_grad=requires_grad)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = doc
    public("signal.windows")(window)


_BLACKMAN = [0.42, 0.5, 0.08]
_fixed("hamming", [0.54, 0.46], "The Hamming window.")
_fixed("hann", [0.5, 0.5], "The Hann window.")
_fixed("blackman", _BLACKMAN, "The Blackman window.")
_fixed("nuttall", [0.3635819, 0.4891775, 0.1365995, 0.0106411], "The minimum 4-term Blackman-Harris window of Nuttall.")


# ----- the older forms -----


def _older(name: str, window_length: int, values: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    """``values(M)`` with ``M`` points; PyTorch's errors for lengths and dtypes."""
    kind = np.dtype(dtype or get_default_dtype())
    if kind.kind not in "fc":
        raise shape_error(
            f"{name} expects floating point dtypes, got: TensorOptions(dtype={cpp_type(kind)}, device=cpu, layout=Strided "
            "(default), requires_grad=false (default), pinned_memory=false, memory_format=(nullopt))"
        )
    if window_length < 0:
        raise shape_error(f"{name} requires non-negative window_length, got window_length={window_length}")
    if kind.kind == "c":
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{scalar_type(kind)}'")
    return _window(values(window_length), kind, device, requires_grad)


@public("torch")
@pinnable
def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The Hann window, periodic or symmetric."""
    return _older(
        "hann_window", window_length, lambda M: _cosines(M, not periodic, [0.5, 0.5]), dtype, device, requires_grad
    )


@public("torch")
@pinnable
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None,
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """alpha - beta cos(2 pi n / N), periodic or symmetric."""
    return _older(
        "hamming_window",
        window_length,
        lambda M: _cosines(M, not periodic, [alpha, beta]),
        dtype,
        device,
        requires_grad,
    )


@public("torch")
@pinnable
def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A triangle, periodic or symmetric."""
    return _older("bartlett_window", window_length, lambda M: _triangle(M, not periodic), dtype, device, requires_grad)


@public("torch")
@pinnable
def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The Blackman window, periodic or symmetric."""
    return _older(
        "blackman_window", window_length, lambda M: _cosines(M, not periodic, _BLACKMAN), dtype, device, requires_grad
    )


@public("torch")
@pinnable
def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The Kaiser window of shape ``beta``, periodic or symmetric."""
    return _older(
        "kaiser_window", window_length, lambda M: _kaiser(M, not periodic, beta), dtype, device, requires_grad
    )
