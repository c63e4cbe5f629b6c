"""Arguments of pooling, checked in PyTorch's words."""

from __future__ import annotations

from typing import Any

from ....tensor import Tensor
from ...explain import shape_error
from ...kernel_names import no_kernel
from ..convolution.windows import Ints
from .max_pool import places

Size = int | tuple[int, ...] | list[int]
_WORDS = {1: "one", 2: "two", 3: "three"}


def each(op: str, name: str, value: Any, k: int, empty: Ints = ()) -> Ints:
    """One number for every dimension; ``empty`` where none is given."""
    given = tuple(value) if isinstance(value, tuple | list) else () if value is None else (value,)
    if not given and empty:
        return empty
    if len(given) == 1:
        given *= k
    if len(given) != k:
        if op == "max_pool1d":
            what = f"{op}() {name} must be an int, list of ints or tuple of ints of size 1"
            raise shape_error(f"{what} but got size {len(given)}")
        if k == 1:
            raise shape_error(f"{op}() argument '{name}' should contain one int (got {len(given)})")
        if name == "dilation":
            raise shape_error(f"{op}: dilation must be either a single int, or a tuple of {_WORDS[k]} ints")
        may = "be omitted, a single int" if name == "stride" else "be a single int"
        raise shape_error(f"{op}: {name} must either {may}, or a tuple of {_WORDS[k]} ints")
    for v in given:
        if not hasattr(v, "__index__"):
            raise TypeError(f"{op}(): argument '{name}' must be tuple of ints, not {type(v).__name__}")
    return tuple(int(v) for v in given)


def check_max_pool1d(x: Tensor, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool) -> None:
    """Refuse what the max pooling of one dimension cannot do; where places are wanted it is that of two."""
    if x.ndim not in (2, 3) or 0 in x.shape[-2:]:
        raise shape_error(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(x.shape)}"
        )
    (k,), (s,), (p,), (d,) = kernel, stride, padding, dilation
    for wrong, text in (
        (k <= 0, f"kernel_size must be greater than zero, but got {k}"),
        (s <= 0, f"stride must be greater than zero, but got {s}"),
        (p < 0, f"padding must be non-negative, but got {p}"),
        (p > k // 2, f"padding should be at most half of kernel size, but got padding={p} and kernel_size={k}"),
        (d <= 0, f"dilation must be greater than zero, but got {d}"),
    ):
        if wrong:
            raise shape_error(f"max_pool1d() {text}")
    made = places(tuple(x.shape[-1:]), kernel, stride, padding, dilation, ceil_mode)[0]
    if made <= 0:
        raise shape_error(f"max_pool1d() Invalid computed output size: {made}")
    check_kind("max_pool1d_impl", x, "f")


def check_windows(
    op: str, x: Tensor, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> None:
    """Refuse windows that are none, and inputs without any."""
    k = len(kernel)
    if 0 in stride:
        raise shape_error("stride should not be zero")
    names = ["T", "H", "W"][-k:]
    for what, prefix, numbers in (
        ("kernel size", "k", kernel),
        ("stride", "d", stride),
        ("dilation", "dilation", dilation),
    ):
        if min(numbers) <= 0:
            raise shape_error(f"{what} should be greater than zero, but got {_named(prefix, names, numbers)}")
    if x.ndim not in (k + 1, k + 2):
        if op == "avg_pool2d" and x.ndim < 3:
            raise shape_error(
                f"Dimension out of range (expected to be in range of [{-x.ndim or -1}, {max(x.ndim - 1, 0)}], but got -3)",
                IndexError,
            )
        raise shape_error(f"non-empty {k + 1}D or {k + 2}D (batch mode) tensor expected for input")
    for p, n, d in zip(padding, kernel, dilation, strict=True):
        if p < 0:
            raise shape_error(f"pad must be non-negative, but got pad: {p}")
        if p > (d * (n - 1) + 1) // 2:
            raise shape_error(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={n} and dilation={d}"
            )
    if 0 in x.shape[-k - 1 :]:
        if k == 3:
            where = next(i for i, n in enumerate(x.shape[-k - 1 :]) if n == 0)
            raise shape_error(
                f"{op}(): Expected input's non-batch dimensions to have positive length, but input has a shape of {list(x.shape)} "
                f"and non-batch dimension {where} has length zero!"
            )
        raise shape_error(
            f"Expected {k + 1}D or {k + 2}D (batch mode) tensor with optional 0 dim batch size for input, but got:{list(x.shape)}"
        )
    size = tuple(x.shape[-k:])
    if op == "avg_pool3d" and any(n < window for n, window in zip(size, kernel, strict=True)):
        raise shape_error(
            f"input image ({_named('', names, size)}) smaller than kernel size ({_named('k', names, kernel)})"
        )
    made = places(size, kernel, stride, padding, dilation, ceil_mode)
    if min(made) < 1:
        c = x.shape[-k - 1]
        raise shape_error(
            f"Given input size: ({'x'.join(map(str, (c, *size)))}). Calculated output size: ({'x'.join(map(str, (c, *made)))}). "
            "Output size is too small"
        )


def _named(prefix: str, names: list[str], numbers: Ints) -> str:
    return " ".join(f"{prefix}{n}: {v}" for n, v in zip(names, numbers, strict=True))


def check_kind(op: str, x: Tensor, kinds: str, others: tuple[str, ...] = ()) -> None:
    """Refuse dtypes that PyTorch has no such kernel for."""
    if x.dtype.kind not in kinds and x.dtype.name not in others:
        raise no_kernel(op, x.dtype)
